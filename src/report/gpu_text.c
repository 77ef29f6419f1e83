/*
 * gpu_text.c: what is known about GPUs, and how many blocks their SMs hold: as text and as JSON.
 */
#include "report/report.h"

#include <limits.h>
#include <string.h>

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
    const void *place = (const char *)gpu + fact->offset;
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
static void print_quantity(FILE *out, double value, const char *unit)
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
    fprintf(out, "%.10g%s%s\n", value, *unit ? " " : "", unit);
}

void report_gpus_text(FILE *out, const struct report_paint *paint)
{
    fprintf(out, "%s%-10s %-24s %4s %4s %9s %10s %8s %9s%s\n", paint->bold, "id", "name", "cc",
            "SMs", "memory", "bandwidth", "f32", "f16 tensor", paint->plain);
    for (unsigned i = 0; i < gpu_info_count; i++) {
        const struct gpu_info *gpu = &gpu_infos[i];
        fprintf(out, "%-10s %-24s %2u.%u %4u %5zu GiB %5.0f GB/s %5.1f TF %7.1f TF\n", gpu->id,
                gpu->name, gpu->cc_major, gpu->cc_minor, gpu->sms, gpu->memory_bytes >> 30,
                gpu->memory_gb_s, gpu->f32_tflops, gpu->tensor_f16);
    }
}

void report_gpu_text(FILE *out, const struct report_paint *paint, const struct gpu_info *gpu)
{
    fprintf(out, "%s%s%s (%s), compute capability %u.%u\n", paint->bold, gpu->name, paint->plain,
            gpu->id, gpu->cc_major, gpu->cc_minor);
    for (size_t i = 0; i < FACTS; i++) {
        double value = fact_value(gpu, &facts[i]);
        if (value == 0 && facts[i].kind == FACT_DOUBLE)
            continue; /* this GPU does not have it */
        fprintf(out, "  %-34s ", facts[i].words);
        print_quantity(out, value, facts[i].unit);
    }
    fprintf(
        out,
        "  sources: %s;\n"
        "           CUDA C++ Programming Guide, technical specifications per compute capability\n",
        gpu->source);
}

static void print_limit(FILE *out, const struct report_paint *paint, const char *name,
                        unsigned blocks, const char *limiter)
{
    bool limits = strcmp(name, limiter) == 0;
    fprintf(out, "  blocks by %-14s ", name);
    if (blocks == UINT_MAX)
        fprintf(out, "no limit\n");
    else
        fprintf(out, "%s%u%s%s\n", limits ? paint->bold : "", blocks, limits ? " <- limits" : "",
                limits ? paint->plain : "");
}

void report_occupancy_text(FILE *out, const struct report_paint *paint, const struct gpu_info *gpu,
                           unsigned threads, unsigned registers, size_t shared)
{
    struct gpu_occupancy got = gpu_occupancy(gpu, threads, registers, shared);
    fprintf(out, "%s, blocks of %u threads, %u registers per thread, %zu bytes of shared memory:\n",
            gpu->name, threads, registers, shared);
    if (got.blocks_per_sm == 0)
        fprintf(out, "  does not run: too many %s\n",
                strcmp(got.limiter, "warps") == 0       ? "threads (or none)"
                : strcmp(got.limiter, "registers") == 0 ? "registers"
                                                        : "bytes of shared memory");
    else
        fprintf(out, "  %u block%s per SM, %u of %u warps: occupancy %.1f %%, limited by %s\n",
                got.blocks_per_sm, got.blocks_per_sm > 1 ? "s" : "", got.warps_per_sm,
                gpu->warps_per_sm, 100 * got.fraction, got.limiter);
    print_limit(out, paint, "warps", got.limit_warps, got.limiter);
    print_limit(out, paint, "registers", got.limit_registers, got.limiter);
    print_limit(out, paint, "shared memory", got.limit_shared, got.limiter);
    print_limit(out, paint, "blocks", got.limit_blocks, got.limiter);
    report_whatifs_text(out, paint, gpu, threads, registers, shared);
}

json_t *report_gpu_json(const struct gpu_info *gpu)
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
