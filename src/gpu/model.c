/*
 * model.c: the time model. What the datasheets do not give was fitted to H200 measurements
 * (docs/accuracy.md) and is in cycles or fractions, so that it carries over to other GPUs.
 */
#include "gpu/model.h"

#include "gpu/deal.h"

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

#define DRAM_EFFICIENCY 0.885 /* of the datasheet's bandwidth, reads and writes mixed */
/* What could have been read, had half a line not been asked for alone, or been written: */
#define LONE_READ_BYTES 64.0
#define LONE_WRITE_BYTES 206.0
#define L2_SECTOR_CYCLES 0.5   /* of an SM, per sector */
#define L2_PARTIAL_CYCLES 1.11 /* per sector of which a store writes only a part, */
#define L2_LINE_CYCLES 2.51    /* and per line with such sectors */
#define L2_ATOMIC_CYCLES 2.28  /* per sector of atomics */
#define L1_FILL_CYCLES 0.87    /* per sector that comes from the L2 */
#define SPLIT_CYCLES 5.5       /* of a scheduler, per branch that splits a warp */
#define BARRIER_CYCLES 32.0
#define WARP_CYCLES 50.0   /* to begin and end a warp */
#define WARP_SLOTS 6.0     /* instructions at a kernel's begin that PTX does not show */
#define QUEUE_PART 1.08    /* of a load's latency, more of it where memory is busy all the time */
#define KEPT_INTEGERS 0.65 /* of PTX's integer instructions; addressing takes in the others */
#define ATOMIC_CYCLES 0.73 /* per sector of atomics in one slice of the L2, */
#define TURN_CYCLES 1.3    /* per atomic at an address that others want too, */
#define FLOAT_CYCLES 3.5   /* and per addition of floats there */
#define OVERLAP 2.67       /* exponent of the norm that sums up what overlaps, */
#define OVERLAP_ALONE 1.71 /* and where one block alone does, from barrier to barrier */
#define L2_SPREAD 30.0     /* cycles more for lines that come together, per factor of e: from L2 */
#define DRAM_SPREAD 95.0   /* and from DRAM */
/* What mma.sync reaches of the tensor cores' rate: Hopper's is for wgmma. */
#define MMA_SYNC_PART(gpu) ((gpu)->cc_major == 9 ? 0.637 : 0.9)
/* What things cost of the power limit's watts, on an H200 by tests/timing/units.cu: a GPU whose
 * warps only wait, as a part of the limit; a cycle of a tensor core; bytes from the L2 at the clock
 * that the limit leaves, and bytes from DRAM (3.9 pJ a bit, published for HBM2). */
#define IDLE_PART 0.18
#define TENSOR_JOULES 0.66e-9
#define L2_JOULES 21.6e-12
#define DRAM_JOULES 31e-12

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double warps_of(const struct gpu_shape *shape)
{
    unsigned warps_a_block = (shape->threads + 31) / 32;
    return (double)shape->blocks * warps_a_block;
}

double gpu_tensor_products(const struct gpu_info *gpu)
{
    /* The datasheet's peak is at another clock than the boost clock; a core does a power of two. */
    double hertz = gpu->boost_mhz * 1e6;
    double peak = gpu->tensor_f16 * 1e12 / 2 / gpu->sms / gpu->schedulers_per_sm / hertz;
    return peak > 0 ? exp2(round(log2(peak))) : 1;
}

double gpu_mma_sync_part(const struct gpu_info *gpu)
{
    return MMA_SYNC_PART(gpu);
}

double gpu_mean_warp(const struct gpu_shape *shape, const struct gpu_counters *counters)
{
    return (double)counters->warp_instructions / larger(warps_of(shape), 1);
}

/* Instructions of one kind, over what an SM does in a cycle. */
static void pipe_times(const struct gpu_info *gpu, const struct gpu_counters *c, double warps,
                       double cycle, double *parts)
{
    double per_sm = gpu->sms * gpu->boost_mhz * 1e6; /* SM cycles a second */
    double f32_lanes = gpu->f32_tflops * 1e12 / 2 / per_sm;
    double f64_lanes = gpu->f64_tflops * 1e12 / 2 / per_sm;
    double f16_lanes = gpu->f16_tflops * 1e12 / 4 / per_sm; /* pairs */
    /* Products and other integer instructions have units of their own. */
    double products = (double)c->integer_mul_warps;
    double others = ((double)c->integer_warps - products) * KEPT_INTEGERS;
    double integers = larger(products, others);
    double slots =
        (double)c->issue_slots + WARP_SLOTS * warps + (double)c->divergent_branches * SPLIT_CYCLES;
    parts[GPU_BOUND_ISSUE] = slots / gpu->schedulers_per_sm * cycle;
    parts[GPU_BOUND_F32] = f32_lanes > 0 ? (double)c->f32_warps * 32 / f32_lanes * cycle : 0;
    parts[GPU_BOUND_F64] = f64_lanes > 0 ? (double)c->f64_warps * 32 / f64_lanes * cycle : 0;
    parts[GPU_BOUND_F16] = f16_lanes > 0 ? (double)c->f16_warps * 32 / f16_lanes * cycle : 0;
    parts[GPU_BOUND_INTEGER] = integers * 32 / 64 * cycle;
    parts[GPU_BOUND_SPECIAL] = (double)(c->special_warps + c->convert_warps) * 32 / 16 * cycle;
    double tensor = (double)c->tensor_cycles / gpu->schedulers_per_sm;
    double slower = (double)c->tensor_sync_cycles * (1 / MMA_SYNC_PART(gpu) - 1);
    parts[GPU_BOUND_TENSOR] = (tensor + slower / gpu->schedulers_per_sm) * cycle;
}

/* How long a load takes that others wait for. A warp waits for the slowest of what it loads
 * together: the more lines, the later that comes. */
static double load_cycles(const struct gpu_counters *c)
{
    double asked = (double)c->global_load_sectors + (double)c->local_load_sectors +
                   (double)c->global_atom_sectors;
    double from_l2 = (double)c->l2_read_sectors + (double)c->l2_atom_sectors;
    double phases = (double)c->load_phases;
    if (asked <= 0 || phases <= 0)
        return GPU_L1_CYCLES;
    double miss = from_l2 / asked < 1 ? from_l2 / asked : 1;
    double dram = from_l2 > 0 ? (double)c->dram_read_bytes / 32 / from_l2 : 0;
    dram = miss * (dram < 1 ? dram : 1);
    double together = asked / phases / 4;
    double l2_cycles = GPU_L2_CYCLES - GPU_L1_CYCLES + L2_SPREAD * log(larger(together * miss, 1));
    double dram_cycles =
        GPU_DRAM_CYCLES - GPU_L2_CYCLES + DRAM_SPREAD * log(larger(together * dram, 1));
    return GPU_L1_CYCLES + larger(miss, 1 - pow(1 - miss, together)) * l2_cycles +
           larger(dram, 1 - pow(1 - dram, together)) * dram_cycles;
}

/* What of its loads' latency a warp does other work in. */
static double hidden_part(const struct gpu_counters *c)
{
    return c->load_cycles ? (double)c->hidden_cycles / (double)c->load_cycles : 0;
}

/* From a warp's first to its last instruction, undisturbed, and what of it is waiting for loads. */
static double warp_cycles(const struct gpu_counters *c, double warps, double *loads)
{
    double others = (double)c->shared_phases * GPU_SHARED_CYCLES +
                    (double)c->barriers * BARRIER_CYCLES + (double)c->chain_cycles +
                    (double)c->issue_slots;
    *loads = (double)c->load_phases * load_cycles(c) * (1 - hidden_part(c)) / larger(warps, 1);
    return WARP_CYCLES + *loads + others / larger(warps, 1);
}

/* The same for the launch, in rounds of blocks, which last as long as their slowest warps. Where
 * that is not known, a warp with so much more to do than others is there alone in the end; the few
 * instructions more that a block's first warp has often cost less than the mean. Loads take longer
 * where memory is busy (for that many cycles) all the time. */
static double latency(const struct gpu_shape *shape, const struct gpu_counters *c, double rounds,
                      double busy)
{
    double loads, each = warp_cycles(c, warps_of(shape), &loads), mean = gpu_mean_warp(shape, c);
    double alone = mean > 0 && !c->warp_cycles ? each * ((double)c->longest_warp / mean - 1) : 0;
    each *= 1 + (c->warp_cycles ? (double)c->late_cycles / (double)c->warp_cycles : 0);
    double cycles = larger(each * rounds, alone) + GPU_START_CYCLES;
    double part = busy < cycles ? busy / cycles : 1;
    return cycles + QUEUE_PART * part * (loads * rounds + GPU_START_CYCLES);
}

/* Memory, beyond the latency of loads. */
static void memory_times(const struct gpu_info *gpu, const struct gpu_counters *c, double cycle,
                         struct gpu_model *model)
{
    double all =
        1 / (gpu->sms * gpu->boost_mhz * 1e6); /* what a cycle of an SM is to all of them */
    double atomics = (double)(c->global_red_sectors + c->global_atom_sectors);
    double partial = (double)c->global_store_partial, *parts = model->parts;
    double whole = (double)(c->l2_hit_sectors + c->l2_miss_sectors) - partial;
    model->bytes = (double)(c->dram_read_bytes + c->dirty_bytes);
    /* Sectors of which only a part was ever written are read first. */
    if (atomics == 0 && c->dirty_bytes > c->global_store_bytes) {
        double most = (double)(c->dirty_bytes - c->global_store_bytes) * 4 / 3;
        double fill = (double)c->fill_sectors * 32;
        model->bytes += fill < most ? fill : most;
    }
    double lone =
        (double)c->lone_reads * LONE_READ_BYTES + (double)c->lone_writes * LONE_WRITE_BYTES;
    parts[GPU_BOUND_DRAM] = (model->bytes / DRAM_EFFICIENCY + lone) / (gpu->memory_gb_s * 1e9);
    parts[GPU_BOUND_L2] = whole * L2_SECTOR_CYCLES * cycle +
                          (partial * L2_PARTIAL_CYCLES + atomics * L2_ATOMIC_CYCLES +
                           (double)c->store_partial_lines * L2_LINE_CYCLES) *
                              all;
    double bulk = (double)c->bulk_load_bytes / 32, filled = (double)c->l2_read_sectors;
    filled = bulk < filled ? filled - bulk : 0;
    parts[GPU_BOUND_L1] = ((double)c->l1_cycles + filled * L1_FILL_CYCLES) * cycle;
    parts[GPU_BOUND_SHARED] = (double)(c->shared_wavefronts + c->cluster_passes) * cycle;
}

static double norm(const double *values, unsigned count, double power)
{
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += pow(values[i], power);
    return pow(sum, 1 / power);
}

/* Parts that share nothing overlap, but not wholly: the time is a norm of theirs. It is nearer to
 * their sum where an SM has no second block at work while the first one meets at its barriers, and
 * waits there for what it loads: what is loaded while it computes is as good as a second block.
 * Instruction issue and the arithmetic units it feeds are one group, L1 and shared memory another.
 * beside: blocks at work on an SM. */
static double overlap(const struct gpu_model *model, const struct gpu_counters *c, double beside)
{
    double second = larger(beside < 2 ? beside - 1 : 1, hidden_part(c));
    double power = c->barriers ? OVERLAP_ALONE + (OVERLAP - OVERLAP_ALONE) * second : OVERLAP;
    const double *parts = model->parts;
    double compute = 0;
    for (int i = GPU_BOUND_ISSUE; i <= GPU_BOUND_TENSOR; i++)
        compute = larger(compute, parts[i]);
    double sms[] = {compute * model->tail,
                    (parts[GPU_BOUND_L1] + parts[GPU_BOUND_SHARED]) * model->tail,
                    parts[GPU_BOUND_LATENCY]};
    double others[] = {parts[GPU_BOUND_L2], parts[GPU_BOUND_DRAM], parts[GPU_BOUND_ATOMICS],
                       parts[GPU_BOUND_BLOCKS]};
    double busiest = norm(sms, sizeof(sms) / sizeof(*sms), power) + model->uneven;
    return norm((double[]){busiest, norm(others, sizeof(others) / sizeof(*others), power)}, 2,
                power);
}

/* How long the launch takes at least if it comes again and again, so that the clock is lowered
 * until the GPU stays at its power limit. What energy things take is known of Hopper alone. */
static double power_time(const struct gpu_info *gpu, const struct gpu_counters *c,
                         const struct gpu_model *model)
{
    if (gpu->cc_major != 9)
        return 0;
    double l2_bytes = (double)(c->l2_hit_sectors + c->l2_miss_sectors) * 32;
    double joules = (double)c->tensor_cycles * TENSOR_JOULES + l2_bytes * L2_JOULES +
                    model->bytes * DRAM_JOULES;
    return joules / (gpu->watts * (1 - IDLE_PART));
}

/* A launch that was followed in time: what it takes longer than its busiest part is waiting. DRAM's
 * bandwidth is the one thing that was not followed. */
static double followed(struct gpu_model *model, const struct gpu_counters *c, double hertz)
{
    double busiest = 0, span = ((double)c->unit_cycles + GPU_START_CYCLES) / hertz;
    span = pow(pow(span, OVERLAP) + pow(model->parts[GPU_BOUND_DRAM], OVERLAP), 1 / OVERLAP);
    span = larger(span, (double)c->clock_cycles / hertz);
    for (int i = 0; i < GPU_BOUND_POWER; i++)
        busiest = i == GPU_BOUND_LAUNCH ? busiest : larger(busiest, model->parts[i]);
    model->parts[GPU_BOUND_LATENCY] = span > busiest ? span - busiest : 0;
    return larger(span, busiest);
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

/* Whichever is larger: the blocks, of those that the GPU holds at once, or the use of its busiest
 * units. DRAM is the whole GPU's; other units are those of the SMs that have blocks. */
static void find_share(const struct gpu_info *gpu, double sms, struct gpu_model *model)
{
    double busiest = model->parts[GPU_BOUND_DRAM];
    for (int i = GPU_BOUND_L2; i <= GPU_BOUND_TENSOR; i++)
        busiest = larger(busiest, model->parts[i] * sms / gpu->sms);
    double share = larger(model->waves, busiest / (model->seconds - GPU_LAUNCH_SECONDS));
    model->share = share < 1 ? share : 1;
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
    if (c->dealt_cycles > c->even_cycles)
        model->uneven = (double)(c->dealt_cycles - c->even_cycles) / hertz;
    memory_times(gpu, c, cycle, model);
    parts[GPU_BOUND_LAUNCH] = GPU_LAUNCH_SECONDS;
    parts[GPU_BOUND_BLOCKS] = blocks * GPU_BLOCK_CYCLES / hertz;
    pipe_times(gpu, c, warps, cycle, parts);
    double turns = (double)c->global_atomic_turns, floats = (double)c->global_float_turns;
    double in_turn = (turns - floats) * TURN_CYCLES + floats * FLOAT_CYCLES;
    parts[GPU_BOUND_ATOMICS] =
        larger((double)c->global_atomic_hottest * ATOMIC_CYCLES, in_turn) / hertz;
    double busy = larger(parts[GPU_BOUND_DRAM], parts[GPU_BOUND_L1]) * hertz;
    parts[GPU_BOUND_LATENCY] =
        latency(shape, c, larger(blocks / (sms * resident), 1), busy) / hertz;
    /* No shorter than its own clocks say, by which it may have waited. */
    parts[GPU_BOUND_LATENCY] = larger(parts[GPU_BOUND_LATENCY], (double)c->clock_cycles / hertz);
    double beside = resident < blocks / sms ? resident : blocks / sms;
    double seconds =
        c->unit_cycles ? followed(model, c, hertz) : overlap(model, c, larger(beside, 1));
    parts[GPU_BOUND_LATENCY] += model->uneven; /* most SMs wait */
    parts[GPU_BOUND_POWER] = power_time(gpu, c, model);
    model->seconds = GPU_LAUNCH_SECONDS + larger(seconds, parts[GPU_BOUND_POWER]);
    /* Power bounds what would be faster without its limit. */
    for (int i = 0; i < GPU_BOUND_COUNT; i++)
        if (parts[i] > parts[model->bound] &&
            (i != GPU_BOUND_POWER || parts[GPU_BOUND_POWER] > seconds))
            model->bound = (enum gpu_bound)i;
    find_roof(gpu, c, model);
    find_share(gpu, sms, model);
}
