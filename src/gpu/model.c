/*
 * model.c: the time model. Constants that the datasheets do not give were fitted to H200
 * measurements (docs/accuracy.md) and are in cycles or fractions, so that they carry over.
 */
#include "gpu/model.h"

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

#define LAUNCH_SECONDS 2.2e-6       /* an empty kernel, begin to end */
#define DRAM_EFFICIENCY 0.92        /* of the datasheet's bandwidth */
#define DRAM_CYCLES 800.0           /* latency of a load that misses everywhere, */
#define L2_CYCLES 280.0             /* of one that hits the L2, */
#define L1_CYCLES 35.0              /* and of one that hits the L1 */
#define SHARED_CYCLES 30.0
#define ALU_CYCLES 5.0              /* from an instruction to one that needs its result */
#define L2_SECTORS_PER_SM_CYCLE 2.0 /* 64 bytes a cycle and SM */
#define L1_LINES_PER_CYCLE 1.0      /* tags */
#define BARRIER_CYCLES 40.0
#define ATOMIC_TURN_CYCLES 1.0      /* the L2 does one to an address each */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Operations that a warp instruction of one kind needs, over what an SM does in a cycle. */
static void pipe_times(const struct gpu_info *gpu, const struct gpu_counters *c, double sms,
                       double hertz, double *parts)
{
    double per_sm = gpu->sms * gpu->boost_mhz * 1e6; /* SM cycles a second */
    double f32_lanes = gpu->f32_tflops * 1e12 / 2 / per_sm;
    double f64_lanes = gpu->f64_tflops * 1e12 / 2 / per_sm;
    double f16_lanes = gpu->f16_tflops * 1e12 / 4 / per_sm; /* pairs */
    double integer_lanes = 64;
    double special_lanes = 16;
    double cycle = 1 / (sms * hertz);
    parts[GPU_BOUND_F32] = (double)c->f32_warps * 32 / f32_lanes * cycle;
    parts[GPU_BOUND_F64] = f64_lanes > 0 ? (double)c->f64_warps * 32 / f64_lanes * cycle : 0;
    parts[GPU_BOUND_F16] = f16_lanes > 0 ? (double)c->f16_warps * 32 / f16_lanes * cycle : 0;
    parts[GPU_BOUND_INTEGER] = (double)c->integer_warps * 32 / integer_lanes * cycle;
    parts[GPU_BOUND_SPECIAL] =
        (double)(c->special_warps + c->convert_warps) * 32 / special_lanes * cycle;
    if (gpu->tensor_f16 > 0)
        parts[GPU_BOUND_TENSOR] =
            (double)c->tensor_flops / (gpu->tensor_f16 * 1e12 * sms / gpu->sms);
}

/* Time for one warp from its first to its last instruction, nobody else in the way. */
static double warp_cycles(const struct gpu_counters *c, double warps)
{
    double loads = (double)c->global_load_requests + (double)c->global_atom_requests +
                   (double)c->copy_requests + (double)c->copy_bypass_requests;
    double sectors = (double)c->global_load_sectors;
    double hit = sectors > 0 ? (double)c->global_load_l1_hits / sectors : 0;
    double asked = (double)(c->l2_hit_sectors + c->l2_miss_sectors);
    double miss = asked > 0 ? (double)c->l2_miss_sectors / asked : 0;
    double load = hit * L1_CYCLES + (1 - hit) * (L2_CYCLES + miss * (DRAM_CYCLES - L2_CYCLES));
    double shared = (double)(c->shared_load_instructions + c->matrix_load_instructions +
                             c->shared_atom_instructions);
    double rest = (double)(c->warp_instructions - c->free_warps);
    /* Loads of a warp overlap: about four are on their way together. */
    return (loads * load / 4 + shared * SHARED_CYCLES / 4 + rest * ALU_CYCLES +
            (double)c->barriers * BARRIER_CYCLES) /
           larger(warps, 1);
}

void gpu_model(const struct gpu_info *gpu, const struct gpu_shape *shape,
               const struct gpu_counters *c, struct gpu_model *model)
{
    *model = (struct gpu_model){0};
    model->occupancy = gpu_occupancy(gpu, shape->threads, shape->registers, shape->shared);
    double resident = larger(model->occupancy.blocks_per_sm, 1);
    double blocks = (double)shape->blocks, hertz = gpu->boost_mhz * 1e6;
    double sms = blocks < gpu->sms ? blocks : gpu->sms;
    double warps_per_block = (shape->threads + 31) / 32;
    model->waves = blocks / (resident * gpu->sms);
    /* The busiest SM has a whole number of blocks, all others wait for it. */
    double per_sm = blocks / gpu->sms;
    double busiest = (double)(uint64_t)(per_sm + 0.999999);
    model->tail = blocks > gpu->sms && per_sm > 0 ? busiest / per_sm : 1;
    double *parts = model->parts;
    double cycle = 1 / (sms * hertz); /* an SM cycle on all that work */
    model->bytes = (double)(c->dram_read_bytes + c->dram_write_bytes);
    parts[GPU_BOUND_DRAM] = model->bytes / (gpu->memory_gb_s * 1e9 * DRAM_EFFICIENCY);
    double l2 = (double)(c->l2_hit_sectors + c->l2_miss_sectors);
    parts[GPU_BOUND_L2] = l2 / L2_SECTORS_PER_SM_CYCLE * cycle;
    double lines = (double)(c->global_wavefronts);
    parts[GPU_BOUND_L1] = lines / L1_LINES_PER_CYCLE * cycle;
    parts[GPU_BOUND_SHARED] = (double)c->shared_wavefronts * cycle;
    parts[GPU_BOUND_ISSUE] =
        (double)(c->warp_instructions - c->free_warps) / gpu->schedulers_per_sm * cycle;
    pipe_times(gpu, c, sms, hertz, parts);
    parts[GPU_BOUND_ATOMICS] = (double)c->global_atomic_passes * ATOMIC_TURN_CYCLES / hertz;
    double warps = blocks * warps_per_block;
    double rounds = larger(blocks / (sms * resident), 1);
    parts[GPU_BOUND_LATENCY] = warp_cycles(c, warps) * rounds / hertz;
    parts[GPU_BOUND_LAUNCH] = LAUNCH_SECONDS;
    double longest = 0;
    for (int i = 0; i < GPU_BOUND_COUNT; i++)
        if (parts[i] > longest) {
            longest = parts[i];
            model->bound = (enum gpu_bound)i;
        }
    double work = model->bound == GPU_BOUND_LAUNCH ? longest * 0.5 : longest;
    model->seconds = LAUNCH_SECONDS + work * (model->bound == GPU_BOUND_DRAM ? 1 : model->tail);
    if (model->bound == GPU_BOUND_LAUNCH)
        model->seconds = LAUNCH_SECONDS + work;
    double f32 = 2.0 * (double)c->f32_fmas + (double)(c->f32_adds + c->f32_muls);
    double f64 = 2.0 * (double)c->f64_fmas + (double)(c->f64_adds + c->f64_muls);
    double f16 = 2.0 * (2.0 * (double)c->f16_fmas + (double)(c->f16_adds + c->f16_muls));
    model->flops = f32 + f64 + f16 + (double)c->tensor_flops;
    double roof = model->bytes / (gpu->memory_gb_s * 1e9);
    roof = larger(roof, f32 / (gpu->f32_tflops * 1e12));
    if (gpu->f64_tflops > 0)
        roof = larger(roof, f64 / (gpu->f64_tflops * 1e12));
    if (gpu->f16_tflops > 0)
        roof = larger(roof, f16 / (gpu->f16_tflops * 1e12));
    if (gpu->tensor_f16 > 0)
        roof = larger(roof, (double)c->tensor_flops / (gpu->tensor_f16 * 1e12));
    model->roof_seconds = roof;
    model->roof = model->seconds > 0 ? roof / model->seconds : 0;
}
