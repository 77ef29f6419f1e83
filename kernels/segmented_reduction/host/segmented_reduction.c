/*
 * segmented_reduction.c: the family: a sum for each of many segments of one array, whose lengths
 * differ. The variants go from a thread a segment to equal shares of work whatever the lengths.
 */
#include "zoo/zoo.h"

#include <float.h>
#include <math.h>

enum { N, SEGMENTS };
enum { VALUES, OFFSETS, OUT };
enum { UNIFORM, EQUAL, SKEWED, ONE, EMPTY, SPECIAL };

static const char *const distributions[] = {"uniform", "equal",   "skewed", "one",
                                            "empty",   "special", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t n = (size_t)problem->value[N], segments = (size_t)problem->value[SEGMENTS];
    buffers[VALUES] = (struct zoo_buffer){"values", ZOO_IN, ZOO_F32, n};
    buffers[OFFSETS] = (struct zoo_buffer){"offsets", ZOO_IN, ZOO_I32, segments + 1};
    buffers[OUT] = (struct zoo_buffer){"out", ZOO_OUT, ZOO_F32, segments};
    return 3;
}

/* How long a segment is beside the others. */
static double weight(const struct zoo_problem *problem, int64_t segment)
{
    double unit = zoo_random_unit(problem->seed, 1, (uint64_t)segment);
    switch (problem->distribution) {
    case EQUAL:
        return 1;
    case SKEWED: /* a power law: half of all values in a few segments */
        return pow(1 - unit, -1.25);
    case ONE:
        return segment == problem->value[SEGMENTS] / 2;
    case EMPTY: /* nine of ten */
        return unit < 0.9 ? 0 : unit;
    default:
        return unit;
    }
}

static void make_offsets(const struct zoo_problem *problem, int32_t *offsets)
{
    int64_t n = problem->value[N], segments = problem->value[SEGMENTS];
    double total = 0, before = 0;
    for (int64_t s = 0; s < segments; s++)
        total += weight(problem, s);
    offsets[0] = 0;
    for (int64_t s = 0; s < segments; s++) {
        before += weight(problem, s);
        offsets[s + 1] =
            total > 0 && before < total ? (int32_t)(before / total * (double)n) : (int32_t)n;
    }
    if (segments > 0)
        offsets[segments] = (int32_t)n;
}

/* Values are the common ones, less the huge: whether their sums overflow depends on the order. */
static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_problem values = *problem;
    size_t n = (size_t)problem->value[N];
    float *value = buffer[VALUES];
    values.distribution = problem->distribution == SPECIAL ? ZOO_SPECIAL : ZOO_UNIFORM;
    zoo_fill(&values, 0, ZOO_F32, value, n);
    if (problem->distribution == SPECIAL)
        for (size_t i = 0; i < n; i++)
            value[i] = fabsf(value[i]) == 0x1p127f ? copysignf(1, value[i]) : value[i];
    make_offsets(problem, buffer[OFFSETS]);
}

/* Rounding in an unknown order: each addition by half a unit of a partial sum that is no
 * larger than the sum of magnitudes; the errors add up like a random walk, here at four times its
 * spread. */
static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    const float *value = buffer[VALUES];
    const int32_t *offsets = buffer[OFFSETS];
#pragma omp parallel for schedule(dynamic, 256) if (problem->value[N] > 100000)
    for (int64_t s = 0; s < problem->value[SEGMENTS]; s++) {
        double sum = 0, magnitudes = 0, length = offsets[s + 1] - offsets[s];
        for (int32_t i = offsets[s]; i < offsets[s + 1]; i++) {
            sum += value[i];
            magnitudes += fabsf(value[i]);
        }
        expected[OUT].value[s] = sum;
        expected[OUT].bound[s] = 2 * FLT_EPSILON * sqrt(length + 1) * magnitudes;
    }
}

static double bytes(const struct zoo_problem *problem)
{
    return 4.0 * (double)problem->value[N] + 8.0 * (double)problem->value[SEGMENTS] + 4;
}

static double flops(const struct zoo_problem *problem)
{
    return (double)problem->value[N];
}

/* Launches --------------------------------------------------------------------------------------*/

/* Segments, with this many threads for each. */
static CUresult launch_threads(struct zoo_call *call, int64_t threads)
{
    int64_t segments = call->problem->value[SEGMENTS];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    if (segments == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(
        call, "reduce",
        ((struct zoo_grid){.x = zoo_ceil_div(segments * threads, block), .threads = block}),
        &call->buffer[VALUES], &call->buffer[OFFSETS], &segments, &call->buffer[OUT]);
}

static CUresult launch_thread_per_segment(struct zoo_call *call)
{
    return launch_threads(call, 1);
}

static CUresult launch_warp_per_segment(struct zoo_call *call)
{
    return launch_threads(call, 32);
}

static CUresult launch_block_per_segment(struct zoo_call *call)
{
    int64_t segments = call->problem->value[SEGMENTS];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    if (segments == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, "reduce",
                      ((struct zoo_grid){.x = (unsigned)segments, .threads = block}),
                      &call->buffer[VALUES], &call->buffer[OFFSETS], &call->buffer[OUT]);
}

/* As many lanes as find one round of loads in a segment of average length. */
static CUresult launch_lanes_per_segment(struct zoo_call *call)
{
    int64_t n = call->problem->value[N], segments = call->problem->value[SEGMENTS];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK"), log_lanes = 0;
    if (segments == 0)
        return CUDA_SUCCESS;
    while (log_lanes < 5 && (segments * zoo_tunable(call, "UNROLL")) << log_lanes < n)
        log_lanes++;
    return ZOO_LAUNCH(
        call, "reduce",
        ((struct zoo_grid){.x = zoo_ceil_div(segments << log_lanes, block), .threads = block}),
        &call->buffer[VALUES], &call->buffer[OFFSETS], &segments, &log_lanes, &call->buffer[OUT]);
}

static int64_t tiles_of(const struct zoo_call *call)
{
    int64_t items = call->problem->value[N] + call->problem->value[SEGMENTS];
    return zoo_ceil_div(items, (int64_t)zoo_tunable(call, "BLOCK") * zoo_tunable(call, "ITEMS"));
}

/* A carry's segment and value for each block that can be resident. */
static size_t most_blocks(const struct zoo_call *call)
{
    return (size_t)call->device->sm_count * (size_t)call->device->threads_per_sm /
           (size_t)zoo_tunable(call, "BLOCK");
}

static size_t workspace_balanced(const struct zoo_call *call)
{
    return tiles_of(call) <= 1 ? 0 : most_blocks(call) * 12;
}

static CUresult launch_balanced(struct zoo_call *call)
{
    int64_t n = call->problem->value[N], segments = call->problem->value[SEGMENTS];
    int64_t all_tiles = tiles_of(call);
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    if (segments == 0)
        return CUDA_SUCCESS;
    int64_t fit = (int64_t)zoo_resident(call, "reduce", block, 0) * call->device->sm_count;
    int64_t tiles = fit > 0 ? zoo_ceil_div(all_tiles, fit) : all_tiles;
    unsigned blocks = zoo_ceil_div(all_tiles, tiles);
    CUdeviceptr none = 0, carry_to = call->workspace, carries = carry_to + most_blocks(call) * 8;
    CUdeviceptr *to = blocks > 1 ? &carries : &none;
    CUresult status = ZOO_LAUNCH(call, "reduce", ((struct zoo_grid){.x = blocks, .threads = block}),
                                 &call->buffer[VALUES], &call->buffer[OFFSETS], &n, &segments,
                                 &tiles, &call->buffer[OUT], &carry_to, to);
    if (status != CUDA_SUCCESS || blocks == 1)
        return status;
    return ZOO_LAUNCH(
        call, "add_carries",
        ((struct zoo_grid){.x = zoo_ceil_div(32 * (int64_t)blocks, block), .threads = block}),
        &carry_to, &carries, &blocks, &segments, &call->buffer[OUT]);
}

static const struct zoo_variant variants[] = {
    {"thread_per_segment", "one thread adds up each segment", launch_thread_per_segment,
     .traits = ZOO_DETERMINISTIC},
    {"warp_per_segment", "32 lanes side by side on a segment", launch_warp_per_segment,
     .traits = ZOO_DETERMINISTIC},
    {"block_per_segment", "a block on a segment", launch_block_per_segment,
     .traits = ZOO_DETERMINISTIC},
    {"lanes_per_segment", "as many lanes as the average length suits", launch_lanes_per_segment,
     .traits = ZOO_DETERMINISTIC},
    {"balanced", "equal shares of values and ends for every thread", launch_balanced,
     workspace_balanced, .traits = ZOO_DETERMINISTIC},
    {0}};

static const struct zoo_peer peers[] = {
    {"cub", ZOO_PEER_NVCC, "cub::DeviceSegmentedReduce::Sum", .takes = NULL},
    {"torch", ZOO_PEER_PYTHON, "torch.segment_reduce(x[0], 'sum', offsets=x[1], unsafe=True)",
     .takes = NULL},
    {0}};

static const char *const edges[] = {"n=0,1,31,33,1000 segments=0,1,2,33,255,257",
                                    "n=3839,3840,3841,7680,20000 segments=1,300,4000",
                                    "n=3000 segments=100,2000 dist=equal,skewed,one,empty,special",
                                    "n=100000 segments=1,5000 dist=skewed,one,empty",
                                    "n=0 segments=10000",
                                    "n=2500000 segments=2000 dist=skewed",
                                    NULL};

static const char *const bench[] = {"n=256M segments=4M dist=uniform,skewed",
                                    "n=256M segments=32M dist=uniform",
                                    "n=256M segments=256K dist=equal,skewed",
                                    "n=256M segments=1K dist=equal,one",
                                    "n=128M segments=64M dist=empty",
                                    "n=1M segments=16K",
                                    "n=16K segments=1K",
                                    NULL};

const struct zoo_family zoo_segmented_reduction = {
    .name = "segmented_reduction",
    .title = "a sum for each segment of an array",
    .problem = "out[s] = the sum of values[offsets[s] .. offsets[s + 1]), in f32; 0 for an empty "
               "segment. offsets ascend from 0 to n.",
    .parameters = {{"n", "values", 0, INT32_MAX, 1 << 20, NULL},
                   {"segments", "segments", 0, 1 << 30, 1 << 14, NULL},
                   {0}},
    .distributions = distributions,
    .profile = "n=1M segments=16K dist=skewed",
    ZOO_FAMILY_PARTS,
};
