/*
 * gpus.c: lockstep gpus: the known GPUs, the facts of one with their source, and occupancy.
 */
#include "cli/cli.h"
#include "cli/target.h"
#include "gpu/gpu.h"
#include "report/report.h"

#include <jansson.h>
#include <limits.h>
#include <string.h>

static const char help[] =
    "usage: lockstep gpus [--json]\n"
    "       lockstep gpus NAME [--json] [--block THREADS [--registers N] [--shared BYTES]]\n"
    "\n"
    "Lists the GPUs that 'run --gpu sim:NAME' knows, or prints all that is known of one and where\n"
    "it comes from. Rates are peaks without sparsity at boost clock.\n"
    "\n"
    "  --block THREADS   how many blocks of so many threads an SM holds, what limits it, and what\n"
    "                    other sizes would give\n"
    "  --registers N     registers per thread (default 32)\n"
    "  --shared BYTES    shared memory per block, static and dynamic (default 0)\n"
    "  --json            the same for programs\n"
    "\n"
    "examples:\n"
    "  lockstep gpus\n"
    "  lockstep gpus h200\n"
    "  lockstep gpus a100 --block 256 --registers 64 --shared 16384\n";

/* One row a fact: how it is called, in words and in JSON, and where it lies. */
enum fact_kind { FACT_UNSIGNED, FACT_SIZE, FACT_DOUBLE };
struct fact {
    const char *key, *words, *unit;
    enum fact_kind kind;
    size_t offset;
};
#define FACT(kind, member, words, unit)                                                            \
    {                                                                                              \
#member, words, unit, FACT_##kind, offsetof(struct gpu_info, member)                       \
    }

static const struct fact facts[] = {
    FACT(UNSIGNED, sms, "SMs", ""),
    FACT(UNSIGNED, boost_mhz, "boost clock", "MHz"),
    FACT(SIZE, memory_bytes, "memory", "bytes"),
    FACT(DOUBLE, memory_gb_s, "memory bandwidth", "GB/s"),
    FACT(UNSIGNED, memory_mhz, "memory clock", "MHz"),
    FACT(UNSIGNED, memory_bus_bits, "memory bus", "bits"),
    FACT(SIZE, l2_bytes, "L2 cache", "bytes"),
    FACT(UNSIGNED, l1_bytes_per_sm, "L1 and shared memory per SM", "bytes"),
    FACT(UNSIGNED, shared_per_sm, "shared memory per SM", "bytes"),
    FACT(UNSIGNED, shared_per_block, "shared memory per block", "bytes"),
    FACT(UNSIGNED, shared_per_block_optin, "shared memory per block, opt-in", "bytes"),
    FACT(UNSIGNED, shared_reserved_per_block, "shared memory reserved per block", "bytes"),
    FACT(UNSIGNED, shared_granularity, "shared memory granularity", "bytes"),
    FACT(UNSIGNED, registers_per_sm, "registers per SM", ""),
    FACT(UNSIGNED, registers_per_block, "registers per block", ""),
    FACT(UNSIGNED, registers_per_thread, "registers per thread", ""),
    FACT(UNSIGNED, register_granularity, "registers per warp in steps of", ""),
    FACT(UNSIGNED, warps_per_sm, "warps per SM", ""),
    FACT(UNSIGNED, blocks_per_sm, "blocks per SM", ""),
    FACT(UNSIGNED, threads_per_sm, "threads per SM", ""),
    FACT(UNSIGNED, threads_per_block, "threads per block", ""),
    FACT(UNSIGNED, schedulers_per_sm, "warp schedulers per SM", ""),
    FACT(UNSIGNED, copy_engines, "copy engines", ""),
    FACT(DOUBLE, f64_tflops, "f64", "TFLOP/s"),
    FACT(DOUBLE, f32_tflops, "f32", "TFLOP/s"),
    FACT(DOUBLE, f16_tflops, "f16", "TFLOP/s"),
    FACT(DOUBLE, bf16_tflops, "bf16", "TFLOP/s"),
    FACT(DOUBLE, tensor_f64, "f64 tensor", "TFLOP/s"),
    FACT(DOUBLE, tensor_tf32, "tf32 tensor", "TFLOP/s"),
    FACT(DOUBLE, tensor_f16, "f16 tensor", "TFLOP/s"),
    FACT(DOUBLE, tensor_bf16, "bf16 tensor", "TFLOP/s"),
    FACT(DOUBLE, tensor_f8, "f8 tensor", "TFLOP/s"),
    FACT(DOUBLE, tensor_f4, "f4 tensor", "TFLOP/s"),
    FACT(DOUBLE, tensor_int8, "int8 tensor", "TOP/s"),
    FACT(DOUBLE, tensor_int4, "int4 tensor", "TOP/s"),
    FACT(DOUBLE, pcie_gb_s, "PCIe, both directions", "GB/s"),
    FACT(DOUBLE, nvlink_gb_s, "NVLink, both directions", "GB/s"),
    FACT(UNSIGNED, watts, "power", "W"),
};
#define FACTS (sizeof facts / sizeof facts[0])

static double fact_value(const struct gpu_info *gpu, const struct fact *fact)
{
    const char *place = (const char *)gpu + fact->offset;
    switch (fact->kind) {
    case FACT_UNSIGNED:
        return *(const unsigned *)place;
    case FACT_SIZE:
        return (double)*(const size_t *)place;
    case FACT_DOUBLE:
        break;
    }
    return *(const double *)place;
}

/* Bytes in the largest unit that leaves a short number; everything else as it is. */
static void print_quantity(double value, const char *unit)
{
    static const char *const steps[] = {"bytes", "KiB", "MiB", "GiB"};
    size_t step = 0;
    if (strcmp(unit, "bytes") == 0) {
        while (step < 3 && value >= 1024) {
            value /= 1024;
            step++;
        }
        unit = steps[step];
    }
    printf("%.10g%s%s\n", value, *unit ? " " : "", unit);
}

static void print_all(void)
{
    printf("%s%-10s %-24s %4s %4s %9s %10s %8s %9s%s\n", host_style(stdout, HOST_BOLD), "id", "name",
           "cc", "SMs", "memory", "bandwidth", "f32", "f16 tensor", host_style(stdout, HOST_PLAIN));
    for (unsigned i = 0; i < gpu_info_count; i++) {
        const struct gpu_info *gpu = &gpu_infos[i];
        printf("%-10s %-24s %2u.%u %4u %5zu GiB %5.0f GB/s %5.1f TF %7.1f TF\n", gpu->id, gpu->name,
               gpu->cc_major, gpu->cc_minor, gpu->sms, gpu->memory_bytes >> 30, gpu->memory_gb_s,
               gpu->f32_tflops, gpu->tensor_f16);
    }
}

static void print_one(const struct gpu_info *gpu)
{
    printf("%s%s%s (%s), compute capability %u.%u\n", host_style(stdout, HOST_BOLD), gpu->name,
           host_style(stdout, HOST_PLAIN), gpu->id, gpu->cc_major, gpu->cc_minor);
    for (size_t i = 0; i < FACTS; i++) {
        double value = fact_value(gpu, &facts[i]);
        if (value == 0 && facts[i].kind == FACT_DOUBLE)
            continue; /* this GPU does not have it */
        printf("  %-34s ", facts[i].words);
        print_quantity(value, facts[i].unit);
    }
    printf(
        "  sources: %s;\n"
        "           CUDA C++ Programming Guide, technical specifications per compute capability\n",
        gpu->source);
}

struct occupancy_request {
    unsigned long long threads, registers, shared;
    bool asked;
};

static struct gpu_occupancy occupancy_of(const struct gpu_info *gpu,
                                         const struct occupancy_request *request)
{
    return gpu_occupancy(gpu, (unsigned)request->threads, (unsigned)request->registers,
                         (size_t)request->shared);
}

static void print_limit(const char *name, unsigned blocks, const char *limiter)
{
    bool limits = strcmp(name, limiter) == 0;
    printf("  blocks by %-14s ", name);
    if (blocks == UINT_MAX)
        printf("no limit\n");
    else
        printf("%s%u%s%s\n", limits ? host_style(stdout, HOST_BOLD) : "", blocks,
               limits ? " <- limits" : "", limits ? host_style(stdout, HOST_PLAIN) : "");
}

static void print_occupancy(const struct gpu_info *gpu, const struct occupancy_request *request)
{
    struct gpu_occupancy got = occupancy_of(gpu, request);
    printf("%s, blocks of %llu threads, %llu registers per thread, %llu bytes of shared memory:\n",
           gpu->name, request->threads, request->registers, request->shared);
    if (got.blocks_per_sm == 0)
        printf("  does not run: too many %s\n",
               strcmp(got.limiter, "warps") == 0       ? "threads (or none)"
               : strcmp(got.limiter, "registers") == 0 ? "registers"
                                                       : "bytes of shared memory");
    else
        printf("  %u block%s per SM, %u of %u warps: occupancy %.1f %%, limited by %s\n",
               got.blocks_per_sm, got.blocks_per_sm > 1 ? "s" : "", got.warps_per_sm,
               gpu->warps_per_sm, 100 * got.fraction, got.limiter);
    print_limit("warps", got.limit_warps, got.limiter);
    print_limit("registers", got.limit_registers, got.limiter);
    print_limit("shared memory", got.limit_shared, got.limiter);
    print_limit("blocks", got.limit_blocks, got.limiter);
    struct report_paint paint = cli_paint(stdout);
    report_whatifs_text(stdout, &paint, gpu, (unsigned)request->threads,
                        (unsigned)request->registers, (size_t)request->shared);
}

static json_t *gpu_json(const struct gpu_info *gpu)
{
    char capability[16];
    snprintf(capability, sizeof capability, "%u.%u", gpu->cc_major, gpu->cc_minor);
    json_t *object = json_pack("{ss ss ss ss}", "id", gpu->id, "name", gpu->name, "source",
                               gpu->source, "compute_capability", capability);
    for (size_t i = 0; i < FACTS; i++) {
        double value = fact_value(gpu, &facts[i]);
        json_object_set_new(object, facts[i].key,
                            facts[i].kind == FACT_DOUBLE ? json_real(value)
                                                         : json_integer((json_int_t)value));
    }
    return object;
}

static void print_json(const struct gpu_info *gpu, const struct occupancy_request *request)
{
    json_t *report = gpu ? gpu_json(gpu) : json_array();
    for (unsigned i = 0; !gpu && i < gpu_info_count; i++)
        json_array_append_new(report, gpu_json(&gpu_infos[i]));
    if (gpu && request->asked)
        json_object_set_new(report, "occupancy",
                            report_occupancy_json(gpu, (unsigned)request->threads,
                                                  (unsigned)request->registers,
                                                  (size_t)request->shared));
    json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(report);
}

/* One of the occupancy's options; *bad if it is one but wrong. */
static bool occupancy_option(int count, char **words, int *at, struct occupancy_request *request,
                             bool *bad)
{
    const struct {
        const char *name;
        unsigned long long *value;
    } options[] = {{"--block", &request->threads},
                   {"--registers", &request->registers},
                   {"--shared", &request->shared}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const char *text;
        if (!cli_option(count, words, at, options[i].name, &text))
            continue;
        *bad = !text || !cli_number(options[i].name, text, INT_MAX, options[i].value);
        request->asked = true;
        return true;
    }
    return false;
}

static int run(int count, char **words)
{
    struct occupancy_request request = {.registers = 32};
    const char *name = NULL;
    bool json = false, bad = false;
    for (int at = 0; at < count;) {
        if (cli_flag(words, &at, "--json")) {
            json = true;
        } else if (!occupancy_option(count, words, &at, &request, &bad)) {
            if (words[at][0] == '-' || name) {
                host_error("gpus: '%s' is not understood; see 'lockstep gpus --help'", words[at]);
                return CLI_USAGE;
            }
            name = words[at++];
        }
        if (bad)
            return CLI_USAGE;
    }
    if (request.asked && (!name || request.threads == 0)) {
        host_error("gpus: occupancy needs a GPU and --block THREADS, as in "
                  "'lockstep gpus h200 --block 256'");
        return CLI_USAGE;
    }
    const struct gpu_info *gpu = name ? target_find_gpu(name) : NULL;
    if (name && !gpu)
        return CLI_USAGE;
    if (json)
        print_json(gpu, &request);
    else if (request.asked)
        print_occupancy(gpu, &request);
    else if (gpu)
        print_one(gpu);
    else
        print_all();
    return CLI_OK;
}

const struct cli_command cli_gpus = {"gpus", "the GPUs known, and an occupancy calculator", help,
                                     run};
