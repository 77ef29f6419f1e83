/*
 * model.c: the time model. What the datasheets do not give was fitted to H200 measurements
 * (docs/accuracy.md) and is in cycles or fractions, so that it carries over to other GPUs.
 */
#include "gpu/model.h"

#include <math.h>

const char *const gpu_bound_keys[GPU_BOUND_COUNT] = {
#define BOUND(name, key, words) key,
#include "gpu/bounds.def"
#undef BOUND
};
const char *const gpu_bound_words[GPU_BOUND_COUNT] = {
#define BOUND(name, key, words) words,
#include "gpu/bounds.def"
#undef BOUND
};

#define LAUNCH_SECONDS 2.6e-6 /* an empty kernel, between two events */
#define DRAM_EFFICIENCY 0.86  /* of the datasheet's bandwidth, reads and writes mixed */
#define L2_SECTOR_CYCLES 0.5  /* of an SM, per sector */
#define L2_PARTIAL_CYCLES 4.2 /* per sector of which a store writes only a part */
#define DRAM_CYCLES 860.0     /* latency of a load that misses everywhere, */
#define L2_CYCLES 340.0       /* of one that finds its data in the L2, */
#define L1_CYCLES 38.0        /* and of one that finds it in the L1 */
#define SHARED_CYCLES 40.0
#define ISSUE_CYCLES 1.8 /* from a warp's instruction to its next */
#define BARRIER_CYCLES 60.0
#define WARP_CYCLES 350.0  /* to begin and end a warp */
#define WARP_SLOTS 5.0     /* instructions at a kernel's begin that PTX does not show */
#define KEPT_INTEGERS 0.65 /* of PTX's integer instructions; addressing takes in the others */
#define ATOMIC_CYCLES 0.7  /* per sector of atomics in one slice of the L2, */
#define TURN_CYCLES 1.3    /* per atomic at an address that others want too, */
#define FLOAT_CYCLES 3.5   /* and per addition of floats there */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double warps_of(const struct gpu_shape *shape)
{
    unsigned warps_a_block = (shape->threads + 31) / 32;
    return (double)shape->blocks * warps_a_block;
}

double gpu_mean_warp(const struct gpu_shape *shape, const struct gpu_counters *counters)
{
    return (double)counters->warp_instructions / larger(warps_of(shape), 1);
}

/* Instructions of one kind, over what an SM does in a cycle. */
static void pipe_times(const struct gpu_info *gpu, const struct gpu_counters *c, double warps,
                       double cycle, double sms, double *parts)
{
    double per_sm = gpu->sms * gpu->boost_mhz * 1e6; /* SM cycles a second */
    double f32_lanes = gpu->f32_tflops * 1e12 / 2 / per_sm;
    double f64_lanes = gpu->f64_tflops * 1e12 / 2 / per_sm;
    double f16_lanes = gpu->f16_tflops * 1e12 / 4 / per_sm; /* pairs */
    /* Products and other integer instructions have units of their own. */
    double products = (double)c->integer_mul_warps;
    double others = ((double)c->integer_warps - products) * KEPT_INTEGERS;
    double integers = larger(products, others);
    parts[GPU_BOUND_ISSUE] =
        ((double)c->issue_slots + WARP_SLOTS * warps) / gpu->schedulers_per_sm * cycle;
    parts[GPU_BOUND_F32] = f32_lanes > 0 ? (double)c->f32_warps * 32 / f32_lanes * cycle : 0;
    parts[GPU_BOUND_F64] = f64_lanes > 0 ? (double)c->f64_warps * 32 / f64_lanes * cycle : 0;
    parts[GPU_BOUND_F16] = f16_lanes > 0 ? (double)c->f16_warps * 32 / f16_lanes * cycle : 0;
    parts[GPU_BOUND_INTEGER] = integers * 32 / 64 * cycle;
    parts[GPU_BOUND_SPECIAL] = (double)(c->special_warps + c->convert_warps) * 32 / 16 * cycle;
    if (gpu->tensor_f16 > 0)
        parts[GPU_BOUND_TENSOR] =
            (double)c->tensor_flops / (gpu->tensor_f16 * 1e12 * sms / gpu->sms);
}

/* How long a load takes that others wait for. A warp waits for the slowest of what it loads
 * together. */
static double load_cycles(const struct gpu_counters *c)
{
    double asked = (double)c->global_load_sectors + (double)c->local_load_sectors +
                   (double)c->global_atom_sectors;
    double from_l2 = (double)c->l2_read_sectors + (double)c->l2_atom_sectors;
    double phases = (double)c->load_phases;
    if (asked <= 0 || phases <= 0)
        return L1_CYCLES;
    double miss = from_l2 / asked < 1 ? from_l2 / asked : 1;
    double waits = 1 - pow(1 - miss, asked / phases / 4);
    double dram = from_l2 > 0 ? (double)c->dram_read_bytes / 32 / from_l2 : 0;
    dram = dram < 1 ? dram : 1;
    return L1_CYCLES + larger(miss, waits) * (L2_CYCLES - L1_CYCLES) +
           miss * dram * (DRAM_CYCLES - L2_CYCLES);
}

/* From a warp's first to its last instruction, undisturbed. */
static double warp_cycles(const struct gpu_counters *c, double warps)
{
    double waiting = (double)c->load_phases * load_cycles(c) +
                     (double)c->shared_phases * SHARED_CYCLES +
                     (double)c->barriers * BARRIER_CYCLES;
    return WARP_CYCLES + (waiting + (double)c->issue_slots * ISSUE_CYCLES) / larger(warps, 1);
}

/* Parts that share nothing overlap, but not wholly: the time is their Euclidean sum. Instruction
 * issue and the arithmetic units it feeds are one group, L1 and shared memory another. */
static double overlap(const struct gpu_model *model)
{
    const double *parts = model->parts;
    double compute = 0;
    for (int i = GPU_BOUND_ISSUE; i <= GPU_BOUND_TENSOR; i++)
        compute = larger(compute, parts[i]);
    double groups[] = {
        compute * model->tail,    (parts[GPU_BOUND_L1] + parts[GPU_BOUND_SHARED]) * model->tail,
        parts[GPU_BOUND_L2],      parts[GPU_BOUND_DRAM],
        parts[GPU_BOUND_LATENCY], parts[GPU_BOUND_ATOMICS]};
    double sum = 0;
    for (unsigned i = 0; i < sizeof(groups) / sizeof(*groups); i++)
        sum += groups[i] * groups[i];
    return sqrt(sum);
}

static void find_roof(const struct gpu_info *gpu, const struct gpu_counters *c,
                      struct gpu_model *model)
{
    double f32 = 2.0 * (double)c->f32_fmas + (double)(c->f32_adds + c->f32_muls);
    double f64 = 2.0 * (double)c->f64_fmas + (double)(c->f64_adds + c->f64_muls);
    double f16 = 2.0 * (2.0 * (double)c->f16_fmas + (double)(c->f16_adds + c->f16_muls));
    double tensor = (double)c->tensor_flops;
    model->flops = f32 + f64 + f16 + tensor;
    double roof = larger(model->bytes / (gpu->memory_gb_s * 1e9), f32 / (gpu->f32_tflops * 1e12));
    if (gpu->f64_tflops > 0)
        roof = larger(roof, f64 / (gpu->f64_tflops * 1e12));
    if (gpu->f16_tflops > 0)
        roof = larger(roof, f16 / (gpu->f16_tflops * 1e12));
    if (gpu->tensor_f16 > 0)
        roof = larger(roof, tensor / (gpu->tensor_f16 * 1e12));
    model->roof_seconds = roof;
    model->roof = model->seconds > 0 ? roof / model->seconds : 0;
}

void gpu_model(const struct gpu_info *gpu, const struct gpu_shape *shape,
               const struct gpu_counters *c, struct gpu_model *model)
{
    *model = (struct gpu_model){0};
    model->occupancy = gpu_occupancy(gpu, shape->threads, shape->registers, shape->shared);
    double resident = larger(model->occupancy.blocks_per_sm, 1);
    double blocks = (double)shape->blocks, hertz = gpu->boost_mhz * 1e6;
    double sms = blocks < gpu->sms ? larger(blocks, 1) : gpu->sms;
    double warps = warps_of(shape);
    double cycle = 1 / (sms * hertz); /* an SM cycle on all that work */
    double *parts = model->parts;
    model->waves = blocks / (resident * gpu->sms);
    /* The busiest SM has a whole number of blocks; the others wait for it. */
    double per_sm = blocks / gpu->sms;
    model->tail = per_sm > 1 ? ceil(per_sm - 1e-9) / per_sm : 1;
    model->bytes = (double)(c->dram_read_bytes + c->dirty_bytes);
    /* Sectors of which only a part was ever written are read first. */
    if (!c->global_red_sectors && !c->global_atom_sectors && c->dirty_bytes > c->global_store_bytes)
        model->bytes += (double)(c->dirty_bytes - c->global_store_bytes);
    parts[GPU_BOUND_LAUNCH] = LAUNCH_SECONDS;
    parts[GPU_BOUND_DRAM] = model->bytes / (gpu->memory_gb_s * 1e9 * DRAM_EFFICIENCY);
    double partial = (double)c->global_store_partial;
    double whole = (double)(c->l2_hit_sectors + c->l2_miss_sectors) - partial;
    parts[GPU_BOUND_L2] = (whole * L2_SECTOR_CYCLES + partial * L2_PARTIAL_CYCLES) * cycle;
    parts[GPU_BOUND_L1] = (double)c->l1_cycles * cycle;
    parts[GPU_BOUND_SHARED] = (double)c->shared_wavefronts * cycle;
    pipe_times(gpu, c, warps, cycle, sms, parts);
    double turns = (double)c->global_atomic_turns, floats = (double)c->global_float_turns;
    double in_turn = (turns - floats) * TURN_CYCLES + floats * FLOAT_CYCLES;
    parts[GPU_BOUND_ATOMICS] =
        larger((double)c->global_atomic_hottest * ATOMIC_CYCLES, in_turn) / hertz;
    double rounds = larger(blocks / (sms * resident), 1);
    /* A warp that has so much more to do than the others that it ends up running alone; the few
     * instructions more that a block's first warp has often cost less than the mean. */
    double each = warp_cycles(c, warps), mean = gpu_mean_warp(shape, c);
    double alone = mean > 0 ? each * ((double)c->longest_warp / mean - 1) : 0;
    parts[GPU_BOUND_LATENCY] = larger(each * rounds, alone) / hertz;
    for (int i = 0; i < GPU_BOUND_COUNT; i++)
        if (parts[i] > parts[model->bound])
            model->bound = (enum gpu_bound)i;
    model->seconds = LAUNCH_SECONDS + overlap(model);
    find_roof(gpu, c, model);
}
