/*
 * roofline.c: lockstep roofline: whether a kernel is bound by memory or by arithmetic, and how far
 * from the roof it is, from its bytes, operations and time.
 */
#include "cli/roofline.h"
#include "cli/cli.h"
#include "cli/target.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: lockstep roofline --bytes B --flops F [--time T] [--gpu NAME] [--type TYPE] [--json]\n"
    "       lockstep roofline FAMILY[/VARIANT] ... [PARAMETER=VALUE ...] [--gpu GPU] [--svg FILE]\n"
    "\n"
    "Says whether a kernel that moves B bytes and does F operations is bound by memory or by\n"
    "arithmetic, by how much, and how much of the roof it reaches in the time T.\n"
    "\n"
    "  --bytes B     bytes from and to memory: 4096, 1.5e9, 16M, 2G (k M G T: powers of 1000)\n"
    "  --flops F     operations, in the same way\n"
    "  --time T      seconds, or with a unit: 3.2us, 1.5ms\n"
    "  --gpu NAME    h200, sim:a100 .. (default h200)\n"
    "  --type TYPE   f32 (default), f64, f16, tensor-f16, tensor-tf32, tensor-f8, tensor-f64\n"
    "  --json        the same for programs\n"
    "\n"
    "With a family it measures the variants and their peers, as 'lockstep bench' does, and draws\n"
    "where each stands under the roof: on the terminal, and with --svg into a file. --time is "
    "then\n"
    "seconds for each problem (default 1), --gpu may be cuda:0, and --no-peers leaves them out.\n"
    "\n"
    "examples:\n"
    "  lockstep roofline reduction --svg reduction.svg\n"
    "  lockstep roofline --bytes 12e6 --flops 1e6 --time 4us\n"
    "  lockstep roofline --bytes 201M --flops 137G --time 0.4ms --type tensor-f16 --gpu h100\n";

/* A number with one of the endings, each a factor. */
static bool parse_number(const char *name, const char *text, const char *const *endings,
                         const double *factors, double *value)
{
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; end != text && endings[i]; i++)
        if (strcmp(end, endings[i]) == 0 && isfinite(number) && number >= 0) {
            *value = number * factors[i];
            return true;
        }
    host_error("%s: '%s' is not understood; see 'lockstep roofline --help'", name, text);
    return false;
}

static bool parse_amount(const char *name, const char *text, double *value)
{
    static const char *const endings[] = {"", "k", "K", "M", "G", "T", "P", NULL};
    static const double factors[] = {1, 1e3, 1e3, 1e6, 1e9, 1e12, 1e15};
    return parse_number(name, text, endings, factors, value);
}

static bool parse_time(const char *name, const char *text, double *value)
{
    static const char *const endings[] = {"", "s", "ms", "us", "ns", NULL};
    static const double factors[] = {1, 1, 1e-3, 1e-6, 1e-9};
    return parse_number(name, text, endings, factors, value);
}

static double peak_of(const struct gpu_info *gpu, const char *type)
{
    const struct {
        const char *name;
        double tflops;
    } types[] = {{"f32", gpu->f32_tflops},        {"f64", gpu->f64_tflops},
                 {"f16", gpu->f16_tflops},        {"bf16", gpu->bf16_tflops},
                 {"tensor-f64", gpu->tensor_f64}, {"tensor-tf32", gpu->tensor_tf32},
                 {"tensor-f16", gpu->tensor_f16}, {"tensor-bf16", gpu->tensor_bf16},
                 {"tensor-f8", gpu->tensor_f8},   {"tensor-int8", gpu->tensor_int8}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, type) == 0) {
            if (types[i].tflops == 0)
                host_error("roofline: %s has no %s units", gpu->name, type);
            return types[i].tflops;
        }
    host_error("roofline: there is no type '%s'; see 'lockstep roofline --help'", type);
    return 0;
}

static void print_text(const struct gpu_info *gpu, const char *type,
                       const struct report_roofline *r)
{
    char a[REPORT_UNIT], b[REPORT_UNIT];
    const char *bold = host_style(stdout, HOST_BOLD), *plain = host_style(stdout, HOST_PLAIN);
    printf("%s%s-bound%s", bold, r->memory_bound ? "memory" : "compute", plain);
    if (isfinite(r->by))
        printf(", by a factor of %.3g", r->by);
    printf(", on %s\n", gpu->name);
    printf("  intensity   %.3g operations a byte; the roof bends at %.3g (%s)\n", r->intensity,
           r->ridge, type);
    printf("  memory      %s at %.0f GB/s\n", report_seconds(a, r->memory_seconds),
           gpu->memory_gb_s);
    printf("  arithmetic  %s at %.4g TFLOP/s\n", report_seconds(a, r->compute_seconds),
           r->peak_flops / 1e12);
    if (r->seconds > 0)
        printf(
            "  time        %s: %s%.1f %% of the roof%s (%.4g GB/s, %.4g TFLOP/s), %.3gx from it\n",
            report_seconds(b, r->seconds), bold, 100 * r->fraction, plain,
            r->bytes / r->seconds / 1e9, r->flops / r->seconds / 1e12,
            r->fraction > 0 ? 1 / r->fraction : INFINITY);
    if (r->fraction > 1)
        printf(
            "  that is faster than the datasheet allows: are the bytes served by a cache, or the "
            "figures wrong?\n");
}

static json_t *or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void print_json(const struct gpu_info *gpu, const char *type,
                       const struct report_roofline *r)
{
    json_t *report =
        json_pack("{ss ss sf sf sf ss so so sf sf sf sf}", "gpu", gpu->id, "type", type, "bytes",
                  r->bytes, "flops", r->flops, "time_us", r->seconds * 1e6, "bound_by",
                  r->memory_bound ? "memory" : "compute", "by", or_null(r->by), "intensity",
                  or_null(r->intensity), "ridge", r->ridge, "memory_us", r->memory_seconds * 1e6,
                  "compute_us", r->compute_seconds * 1e6, "roof", r->fraction);
    json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(report);
}

/* Without bytes and operations given, they are a family's. */
static bool names_family(int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (strncmp(words[i], "--bytes", 7) == 0 || strncmp(words[i], "--flops", 7) == 0)
            return false;
    return count > 0;
}

static int run(int count, char **words)
{
    if (names_family(count, words))
        return roofline_family(count, words);
    const char *value, *name = "h200", *type = "f32";
    double bytes = -1, flops = -1, seconds = 0;
    bool json = false, ok = true;
    for (int at = 0; at < count && ok;) {
        if (cli_flag(words, &at, "--json")) {
            json = true;
        } else if (cli_option(count, words, &at, "--bytes", &value)) {
            ok = value && parse_amount("--bytes", value, &bytes);
        } else if (cli_option(count, words, &at, "--flops", &value)) {
            ok = value && parse_amount("--flops", value, &flops);
        } else if (cli_option(count, words, &at, "--time", &value)) {
            ok = value && parse_time("--time", value, &seconds);
        } else if (cli_option(count, words, &at, "--gpu", &name)) {
            ok = name != NULL;
        } else if (cli_option(count, words, &at, "--type", &type)) {
            ok = type != NULL;
        } else {
            host_error("roofline: '%s' is not understood; see 'lockstep roofline --help'",
                      words[at]);
            ok = false;
        }
    }
    if (!ok)
        return CLI_USAGE;
    if (bytes < 0 || flops < 0 || (bytes == 0 && flops == 0)) {
        host_error("roofline needs --bytes and --flops, as in "
                  "'lockstep roofline --bytes 12e6 --flops 1e6 --time 4us'");
        return CLI_USAGE;
    }
    const struct gpu_info *gpu = target_find_gpu(strncmp(name, "sim:", 4) == 0 ? name + 4 : name);
    double peak = gpu ? peak_of(gpu, type) : 0;
    if (!gpu || peak == 0)
        return CLI_USAGE;
    struct report_roofline r = report_roofline(gpu, bytes, flops, seconds, peak);
    if (json)
        print_json(gpu, type, &r);
    else
        print_text(gpu, type, &r);
    return CLI_OK;
}

const struct cli_command cli_roofline = {
    "roofline", "bound by memory or by arithmetic, and how far from the roof", help, run};
