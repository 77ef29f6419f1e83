/*
 * roofline.c: lockstep roofline: whether a kernel is bound by memory or by arithmetic, and how far
 * from the roof it is: from its bytes, operations and time, or of a family that is measured now.
 */
#include "cli/measure.h"
#include "cli/target.h"

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
    "  --json        print JSON\n"
    "\n"
    "With a family it measures the variants and their peers, as 'lockstep bench' does, and draws\n"
    "where each stands under the roof: on the terminal, and with --svg into a file. --time is "
    "then\n"
    "seconds for each problem (default 1), --gpu may be cuda:0, and --no-peers leaves them out. "
    "What\n"
    "does no floating-point operations (copies, integers) stands at the left edge.\n"
    "\n"
    "examples:\n"
    "  lockstep roofline reduction --svg reduction.svg\n"
    "  lockstep roofline --bytes 12e6 --flops 1e6 --time 4us\n"
    "  lockstep roofline --bytes 201M --flops 137G --time 0.4ms --type tensor-f16 --gpu h100\n";

/* From numbers ----------------------------------------------------------------------------------*/

struct numbers {
    double bytes, flops, seconds;
    const char *gpu, *type;
    bool json;
};

/* A number with one of the endings, each a factor; not negative, and finite. */
static bool parse_number(const char *text, const char *const *endings, const double *factors,
                         double *value)
{
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; end != text && endings[i]; i++)
        if (strcmp(end, endings[i]) == 0) {
            *value = number * factors[i];
            return number >= 0 && isfinite(*value);
        }
    return false;
}

static bool parse_amount(const char *name, const char *text, double *value)
{
    static const char *const endings[] = {"", "k", "K", "M", "G", "T", "P", NULL};
    static const double factors[] = {1, 1e3, 1e3, 1e6, 1e9, 1e12, 1e15};
    if (parse_number(text, endings, factors, value))
        return true;
    host_error("%s takes a number from 0 up, as in 4096, 1.5e9 or 2G, not '%s'", name, text);
    return false;
}

static bool parse_time(const char *name, const char *text, double *value)
{
    static const char *const endings[] = {"", "s", "ms", "us", "ns", NULL};
    static const double factors[] = {1, 1, 1e-3, 1e-6, 1e-9};
    if (parse_number(text, endings, factors, value) && *value > 0)
        return true;
    host_error("%s takes a time above 0, as in 4e-6, 3.2us or 1.5ms, not '%s'", name, text);
    return false;
}

static bool parse_numbers(int count, char **words, struct numbers *numbers)
{
    const char *value;
    bool fine = true;
    for (int at = 0; at < count && fine;) {
        if (cli_flag(words, &at, "--json")) {
            numbers->json = true;
        } else if (cli_option(count, words, &at, "--bytes", &value)) {
            fine = value && parse_amount("--bytes", value, &numbers->bytes);
        } else if (cli_option(count, words, &at, "--flops", &value)) {
            fine = value && parse_amount("--flops", value, &numbers->flops);
        } else if (cli_option(count, words, &at, "--time", &value)) {
            fine = value && parse_time("--time", value, &numbers->seconds);
        } else if (cli_option(count, words, &at, "--gpu", &numbers->gpu)) {
            fine = numbers->gpu != NULL;
        } else if (cli_option(count, words, &at, "--type", &numbers->type)) {
            fine = numbers->type != NULL;
        } else {
            host_error("'%s' is not understood; see 'lockstep roofline --help'", words[at]);
            fine = false;
        }
    }
    if (!fine)
        return false;
    fine = numbers->bytes >= 0 && numbers->flops >= 0 && (numbers->bytes > 0 || numbers->flops > 0);
    if (!fine)
        host_error("--bytes and --flops are needed, as in "
                   "'lockstep roofline --bytes 12e6 --flops 1e6 --time 4us'");
    return fine;
}

static int run_numbers(int count, char **words)
{
    struct numbers numbers = {.bytes = -1, .flops = -1, .gpu = "h200", .type = "f32"};
    if (!parse_numbers(count, words, &numbers))
        return CLI_USAGE;
    const char *name = numbers.gpu;
    const struct gpu_info *gpu = target_find_gpu(name);
    double peak = gpu ? report_peak(gpu, numbers.type) : 0;
    if (gpu && peak < 0)
        host_error("there is no type '%s'; see 'lockstep roofline --help'", numbers.type);
    else if (gpu && peak == 0)
        host_error("%s has no %s units", gpu->name, numbers.type);
    if (!gpu || peak <= 0)
        return CLI_USAGE;
    struct report_paint paint = cli_paint(stdout);
    struct report_roofline r =
        report_roofline(gpu, numbers.bytes, numbers.flops, numbers.seconds, peak);
    if (numbers.json)
        cli_print_json(report_roofline_json(gpu, numbers.type, &r));
    else
        report_roofline_text(stdout, &paint, gpu, numbers.type, &r);
    return CLI_OK;
}

/* Of a family -----------------------------------------------------------------------------------*/

struct options {
    struct cli_measure measure;
    const char *svg;
    bool json;
};

static bool parse(int count, char **words, struct options *options)
{
    for (int at = 0; at < count;) {
        bool bad = false;
        if (cli_flag(words, &at, "--json")) {
            options->json = true;
        } else if (cli_option(count, words, &at, "--svg", &options->svg)) {
            bad = !options->svg;
        } else if (!cli_measure_option(&options->measure, count, words, &at, &bad)) {
            host_error("'%s' is not understood; see 'lockstep roofline --help'", words[at]);
            bad = true;
        }
        if (bad)
            return false;
    }
    if (options->measure.names.count == 0) {
        host_error("--bytes and --flops are needed, or a family, as in "
                   "'lockstep roofline reduction'");
        return false;
    }
    return cli_measure_check(&options->measure);
}

static bool has_roof(void *context, const struct bench_report *report)
{
    if (!report->place->info)
        host_error("the peaks of %s are not known; 'lockstep gpus' lists those that are",
                   report->place->name);
    return report->place->info != NULL;
}

static void done(void *context, const struct bench_report *report, const char *trouble)
{
    cli_progress(NULL, NULL, 0);
    if (trouble)
        host_error("%s", trouble);
}

static int show(const struct options *options, const struct bench_run *run)
{
    struct report_paint paint = cli_paint(stdout);
    struct lk_buf picture = {0};
    bool fine = !run->failed, found = bench_has_roofline(&run->report);
    if (options->json)
        cli_print_json(bench_roofline_json(&run->report));
    else
        bench_print_roofline(stdout, &paint, &run->report);
    if (!found && fine)
        host_error("nothing was measured that has bytes");
    if (options->svg) {
        bench_roofline_svg(&picture, &run->report);
        fine = cli_write_file(options->svg, picture.data, picture.size) && fine;
    }
    lk_buf_free(&picture);
    return !fine ? CLI_USAGE : found ? CLI_OK : CLI_FINDINGS;
}

static int run_family(int count, char **words)
{
    struct options options = {
        .measure.request = {.seconds = 1, .first_only = true, .begin = has_roof, .done = done}};
    int status = CLI_USAGE;
    if (parse(count, words, &options)) {
        struct bench_run run;
        if (cli_measure_run(&options.measure, &run))
            status = show(&options, &run);
        bench_run_free(&run);
    }
    cli_measure_free(&options.measure);
    return status;
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
    return names_family(count, words) ? run_family(count, words) : run_numbers(count, words);
}

const struct cli_command cli_roofline = {
    "roofline", "bound by memory or by arithmetic? how far from the roof?", help, run};
