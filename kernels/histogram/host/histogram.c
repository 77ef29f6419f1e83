/*
 * histogram.c: the family: how many elements fall into each bin. The variants go from one atomic in
 * memory per element to copies in shared memory that no data makes lanes wait for. They count f32;
 * bytes does for u8 what the last of them does.
 */
#include "zoo/zoo.h"

#include <math.h>

enum { N, BINS, TYPE };
enum { F32, U8 };
enum { IN, COUNTS };
enum { UNIFORM, CONSTANT, ASCENDING, SKEWED, SPECIAL };

static const enum zoo_type types[] = {ZOO_F32, ZOO_U8};
static const char *const type_names[] = {"f32", "u8", NULL};
static const char *const distributions[] = {"uniform", "constant", "ascending",
                                            "skewed",  "special",  NULL};

/* The problem -----------------------------------------------------------------------------------*/

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    buffers[IN] =
        (struct zoo_buffer){"in", ZOO_IN, types[problem->value[TYPE]], (size_t)problem->value[N]};
    buffers[COUNTS] = (struct zoo_buffer){"counts", ZOO_OUT, ZOO_U32, (size_t)problem->value[BINS]};
    return 2;
}

/* A number of [0, 1) in steps of 2^-24, so that it is an f32 as it stands. */
static double unit(const struct zoo_problem *problem, size_t i)
{
    double u = (double)(zoo_random(problem->seed, 0, i) >> 40) * 0x1p-24;
    switch (problem->distribution) {
    case CONSTANT:
        return 0.75;
    case ASCENDING:
        return floor((double)i / (double)problem->value[N] * 0x1p24) * 0x1p-24;
    case SKEWED: /* a power law: of 256 bins the first takes two fifths */
        return floor(u * u * u * u * u * u * 0x1p24) * 0x1p-24;
    default:
        return u;
    }
}

static float number(const struct zoo_problem *problem, size_t i)
{
    static const float special[] = {NAN,  INFINITY, -INFINITY, -0.0f,          1,
                                    1.5f, -0.25f,   0x1p-149f, 0x1.fffffep-1f, -0x1p-149f};
    uint64_t other = zoo_random(problem->seed, 1, i);
    if (problem->distribution == SPECIAL && other % 7 == 0)
        return special[other / 7 % 10];
    return (float)unit(problem, i);
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    size_t n = (size_t)problem->value[N];
    float *number_at = buffer[IN];
    uint8_t *byte_at = buffer[IN];
    bool bytes = problem->value[TYPE] == U8;
#pragma omp parallel for schedule(static) if (n > 100000)
    for (size_t i = 0; i < n; i++) {
        if (!bytes)
            number_at[i] = number(problem, i);
        else if (problem->distribution == SPECIAL && i % 3)
            byte_at[i] = i % 3 == 1 ? 0 : 255;
        else
            byte_at[i] = (uint8_t)(256 * unit(problem, i));
    }
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    int64_t bins = problem->value[BINS];
    for (int64_t i = 0; i < problem->value[N]; i++) {
        int64_t bin;
        if (problem->value[TYPE] == U8) {
            bin = ((const uint8_t *)buffer[IN])[i];
        } else {
            float x = ((const float *)buffer[IN])[i], scaled = x * (float)bins;
            bin = x >= 0 && x < 1 ? (int64_t)scaled : bins;
        }
        if (bin < bins)
            expected[COUNTS].value[bin]++;
    }
}

static double bytes(const struct zoo_problem *problem)
{
    return (double)problem->value[N] * zoo_type_bytes[types[problem->value[TYPE]]] +
           4.0 * (double)problem->value[BINS];
}

static double flops(const struct zoo_problem *problem)
{
    return (double)problem->value[N];
}

static bool takes_f32(const struct zoo_problem *problem)
{
    return problem->value[TYPE] == F32;
}

static bool takes_few_f32_bins(const struct zoo_problem *problem)
{
    return takes_f32(problem) && problem->value[BINS] <= 256;
}

static bool takes_bytes(const struct zoo_problem *problem)
{
    return problem->value[TYPE] == U8;
}

static bool takes_peers(const struct zoo_problem *problem)
{
    return takes_f32(problem) || problem->value[BINS] <= 256;
}

/* Launches --------------------------------------------------------------------------------------*/

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* At least one, at most this many for each SM, and each with something to do. */
static unsigned blocks_for(const struct zoo_call *call, int64_t per_block, int64_t per_sm)
{
    int64_t wanted = (call->problem->value[N] + per_block - 1) / per_block;
    int64_t most = call->device->sm_count * (per_sm < 1 ? 1 : per_sm);
    return (unsigned)(wanted < 1 ? 1 : lesser(wanted, most));
}

static CUresult clear(struct zoo_call *call)
{
    return zoo_clear(call, call->buffer[COUNTS], 4 * (size_t)call->problem->value[BINS]);
}

static CUresult launch_global_atomics(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    unsigned bins = (unsigned)call->problem->value[BINS];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    CUresult status = clear(call);
    if (status != CUDA_SUCCESS || n == 0)
        return status;
    return ZOO_LAUNCH(call, "count",
                      ((struct zoo_grid){.x = zoo_ceil_div(n, block), .threads = block}),
                      &call->buffer[IN], &n, &bins, &call->buffer[COUNTS]);
}

/* How the bins lie in shared memory: `range` of them at a time, in `copies` copies. */
struct layout {
    unsigned range, ranges, copies, shared;
};

static struct layout lay_out(const struct zoo_call *call, unsigned counter_bytes, unsigned copies)
{
    int64_t bins = call->problem->value[BINS]; /* and room for one more */
    /* Even, so that no range begins within a word of packed.cu's two counters. */
    int64_t most = ((unsigned)call->device->shared_per_block / counter_bytes - 2) / 2 * 2;
    int64_t range = lesser(bins, most);
    struct layout layout = {(unsigned)range, zoo_ceil_div(bins, range), copies, 0};
    layout.shared = (unsigned)((range + 1) * copies * counter_bytes + 3) & ~3u;
    return layout;
}

static CUresult launch_shared_private(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    unsigned bins = (unsigned)call->problem->value[BINS];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    struct layout layout = lay_out(call, 4, 1);
    struct zoo_grid grid = {.x = blocks_for(call, 4 * block, zoo_tunable(call, "BLOCKS_PER_SM")),
                            .y = layout.ranges,
                            .threads = block,
                            .shared = layout.shared};
    CUresult status = clear(call);
    if (status != CUDA_SUCCESS || n == 0)
        return status;
    return ZOO_LAUNCH(call, "count", grid, &call->buffer[IN], &n, &bins, &layout.range,
                      &call->buffer[COUNTS]);
}

static CUresult launch_warp_private(struct zoo_call *call)
{
    int64_t n = call->problem->value[N], bins64 = call->problem->value[BINS];
    unsigned bins = (unsigned)bins64, block = (unsigned)zoo_tunable(call, "BLOCK");
    int64_t room = 1024 * zoo_tunable(call, "SHARED_KB") / (4 * (bins64 + 1));
    struct layout layout = lay_out(call, 4, room < 1 ? 1 : (unsigned)lesser(room, block / 32));
    struct zoo_grid grid = {.x = blocks_for(call, 4 * block, zoo_tunable(call, "BLOCKS_PER_SM")),
                            .y = layout.ranges,
                            .threads = block,
                            .shared = layout.shared};
    CUresult status = clear(call);
    if (status != CUDA_SUCCESS || n == 0)
        return status;
    return ZOO_LAUNCH(call, "count", grid, &call->buffer[IN], &n, &bins, &layout.range,
                      &layout.copies, &call->buffer[COUNTS]);
}

static CUresult launch_thread_private(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    unsigned bins = (unsigned)call->problem->value[BINS];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK"), shared = block * 256;
    CUresult status = clear(call);
    if (status != CUDA_SUCCESS || n == 0)
        return status;
    unsigned resident = zoo_resident(call, "count", block, shared);
    unsigned blocks = blocks_for(call, (int64_t)block * zoo_tunable(call, "UNROLL") * 4, resident);
    return ZOO_LAUNCH(call, "count",
                      ((struct zoo_grid){.x = blocks, .threads = block, .shared = shared}),
                      &call->buffer[IN], &n, &bins, &call->buffer[COUNTS]);
}

/* Clearing and adding up a block's counters is worth it for no fewer elements than bins. */
static int64_t elements_per_block(const struct zoo_call *call, unsigned threads, unsigned range)
{
    int64_t size = zoo_type_bytes[types[call->problem->value[TYPE]]];
    int64_t loop = (int64_t)threads * zoo_tunable(call, "UNROLL") * 16 / size;
    return loop > range ? loop : range;
}

static CUresult launch_packed(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    unsigned bins = (unsigned)call->problem->value[BINS];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    struct layout layout = lay_out(call, 2, 1);
    CUresult status = clear(call);
    if (status != CUDA_SUCCESS || n == 0)
        return status;
    unsigned resident = zoo_resident(call, "count", block, layout.shared);
    struct zoo_grid grid = {
        .x = blocks_for(call, elements_per_block(call, block, layout.range), resident),
        .y = layout.ranges,
        .threads = block,
        .shared = layout.shared};
    return ZOO_LAUNCH(call, "count", grid, &call->buffer[IN], &n, &bins, &layout.range,
                      &call->buffer[COUNTS]);
}

/* A power of two copies, up to 32. */
static struct layout lay_out_replicated(const struct zoo_call *call)
{
    int64_t bins = call->problem->value[BINS];
    unsigned copies = 1;
    while (copies < 32 && 2 * copies * bins * 4 <= 1024 * zoo_tunable(call, "SHARED_KB") &&
           2 * copies * (bins + 1) * 4 <= call->device->shared_per_block)
        copies *= 2;
    return lay_out(call, 4, copies);
}

/* 256 bins, 64 copies; see bytes.cu. */
static struct layout lay_out_bytes(const struct zoo_call *call)
{
    return (struct layout){256, zoo_ceil_div(call->problem->value[BINS], 256), 64, 64 * 1024};
}

/* A block that has the SM to itself is as large as can be. */
static unsigned row_threads(const struct zoo_call *call, struct layout layout)
{
    bool alone = layout.shared > (unsigned)call->device->shared_per_block / 2;
    return alone ? 1024 : (unsigned)zoo_tunable(call, "BLOCK");
}

/* How many blocks leave a row each, if this many are resident on an SM. Threads and shared memory
 * limit those even where registers do not. */
static unsigned row_blocks(const struct zoo_call *call, struct layout layout, int64_t resident)
{
    unsigned threads = row_threads(call, layout);
    int64_t by_threads = (unsigned)call->device->threads_per_sm / threads;
    int64_t by_shared = ((unsigned)call->device->shared_per_block + 1024) / layout.shared;
    return blocks_for(call, elements_per_block(call, threads, layout.range),
                      lesser(resident, lesser(by_threads, by_shared)));
}

static size_t row_bytes(const struct zoo_call *call, struct layout layout)
{
    unsigned blocks = row_blocks(call, layout, INT64_MAX);
    return blocks == 1 ? 0 : 4 * (size_t)blocks * (size_t)call->problem->value[BINS];
}

static size_t workspace_replicated(const struct zoo_call *call)
{
    return row_bytes(call, lay_out_replicated(call));
}

static size_t workspace_bytes(const struct zoo_call *call)
{
    return row_bytes(call, lay_out_bytes(call));
}

/* A single block's row is the result. */
static CUresult launch_merge(struct zoo_call *call, CUdeviceptr rows, unsigned blocks)
{
    unsigned bins = (unsigned)call->problem->value[BINS];
    if (blocks == 1)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, "merge",
                      ((struct zoo_grid){.x = zoo_ceil_div(bins, 32), .threads = 1024}), &rows,
                      &blocks, &bins, &call->buffer[COUNTS]);
}

static struct zoo_grid row_grid(struct zoo_call *call, struct layout layout)
{
    unsigned threads = row_threads(call, layout);
    int64_t resident = zoo_resident(call, "count", threads, layout.shared);
    return (struct zoo_grid){.x = row_blocks(call, layout, resident),
                             .y = layout.ranges,
                             .threads = threads,
                             .shared = layout.shared};
}

static CUresult launch_replicated(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    unsigned bins = (unsigned)call->problem->value[BINS];
    struct layout layout = lay_out_replicated(call);
    struct zoo_grid grid = row_grid(call, layout);
    CUdeviceptr rows = grid.x == 1 ? call->buffer[COUNTS] : call->workspace;
    CUresult status = ZOO_LAUNCH(call, "count", grid, &call->buffer[IN], &n, &bins, &layout.range,
                                 &layout.copies, &rows);
    return status == CUDA_SUCCESS ? launch_merge(call, rows, grid.x) : status;
}

static CUresult launch_bytes(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    unsigned bins = (unsigned)call->problem->value[BINS];
    struct zoo_grid grid = row_grid(call, lay_out_bytes(call));
    CUdeviceptr rows = grid.x == 1 ? call->buffer[COUNTS] : call->workspace;
    CUresult status = ZOO_LAUNCH(call, "count", grid, &call->buffer[IN], &n, &bins, &rows);
    return status == CUDA_SUCCESS ? launch_merge(call, rows, grid.x) : status;
}

static const struct zoo_variant variants[] = {
    {"global_atomics", "one atomic in memory for each element", launch_global_atomics,
     .takes = takes_f32, .traits = ZOO_DETERMINISTIC},
    {"shared_private", "a copy of the counters for each block, in shared memory",
     launch_shared_private, .takes = takes_f32, .traits = ZOO_DETERMINISTIC},
    {"warp_private", "a copy for each warp", launch_warp_private, .takes = takes_f32,
     .traits = ZOO_DETERMINISTIC},
    {"aggregated", "lanes with the same bin find each other and add once", launch_shared_private,
     .takes = takes_f32, .traits = ZOO_DETERMINISTIC},
    {"thread_private", "a byte for each thread and bin, no atomics", launch_thread_private,
     .takes = takes_few_f32_bins, .traits = ZOO_DETERMINISTIC},
    {"packed", "16-bit counters, two in a word, for many bins", launch_packed, .takes = takes_f32,
     .traits = ZOO_DETERMINISTIC},
    {"replicated", "copies interleaved over the banks, 16-byte loads, two passes",
     launch_replicated, workspace_replicated, .takes = takes_f32, .traits = ZOO_DETERMINISTIC},
    {"bytes", "u8: the byte itself is half of a counter's address; else as replicated",
     launch_bytes, workspace_bytes, .takes = takes_bytes, .traits = ZOO_DETERMINISTIC},
    {0}};

static const struct zoo_peer peers[] = {
    {"cub", ZOO_PEER_NVCC, "cub::DeviceHistogram::HistogramEven", .takes = takes_peers},
    {"torch", ZOO_PEER_PYTHON,
     "torch.histc(x[0], bins, 0, 1) if type == 'f32' else torch.bincount(x[0], minlength=bins)",
     .takes = takes_peers},
    {0}};

static const char *const edges[] = {
    "n=0,1,2,3,31,32,33,255,256,257,1023,1025,4099 bins=256 type=f32,u8",
    "n=1,257,5000 bins=64,100,1000,2048 type=f32",
    "n=1000 bins=1,3,64,200,300 type=f32,u8",
    "n=3000 bins=64,256,1000 type=f32,u8 dist=constant,ascending,skewed,special",
    "n=1000,40000 bins=65536,60001 type=f32",
    "n=40000 bins=65536 type=f32 dist=constant,skewed",
    "n=200003 bins=256 type=u8,f32",
    NULL};

static const char *const bench[] = {"n=256M bins=256,2048,64,65536,16K type=f32",
                                    "n=256M bins=256 type=u8",
                                    "n=256M bins=256,2048,65536 type=f32 dist=skewed,constant",
                                    "n=256M bins=256 type=u8 dist=skewed,constant",
                                    "n=1K,16K,64K,256K,1M,16M bins=256 type=f32",
                                    NULL};

const struct zoo_family zoo_histogram = {
    .name = "histogram",
    .title = "how many elements fall into each bin",
    .problem = "Counts of n elements in u32. f32: x of [0, 1) counts in bin (int)(x * bins), the "
               "product rounded to f32; NaN and what lies outside do not count. "
               "u8: the value is the bin; values from bins on do not count.",
    .parameters = {{"n", "elements", 0, ((int64_t)1 << 32) - 1, 1 << 20, NULL},
                   {"bins", "bins", 1, 65536, 256, NULL},
                   {"type", "of the elements", 0, 1, 0, type_names},
                   {0}},
    .distributions = distributions,
    .profile = "n=1M",
    ZOO_FAMILY_PARTS,
};
