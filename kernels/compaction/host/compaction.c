/*
 * compaction.c: the family: the elements above a threshold, packed, in their order.
 * The variants go from three kernels to one pass at the memory's limit.
 */
#include "one_pass.h"

#include <math.h>

enum { N, KEEP };
enum { IN, OUT, TOTAL };

/* The problem -----------------------------------------------------------------------------------*/

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t n = (size_t)problem->value[N];
    buffers[IN] = (struct zoo_buffer){"in", ZOO_IN, ZOO_F32, n};
    buffers[OUT] = (struct zoo_buffer){"out", ZOO_OUT, ZOO_F32, n};
    buffers[TOTAL] = (struct zoo_buffer){"total", ZOO_OUT, ZOO_I64, 1};
    return 3;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    zoo_fill(problem, 0, ZOO_F32, buffer[IN], (size_t)problem->value[N]);
}

/* Uniform numbers lie between -1 and 1. A program gives the threshold itself, as a float. */
static float threshold(const struct zoo_problem *problem)
{
    if (problem->value[KEEP] >= ZOO_FLOAT)
        return zoo_as_float(problem->value[KEEP]);
    return 1 - 2 * (float)problem->value[KEEP] / 100;
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    const float *in = buffer[IN];
    float limit = threshold(problem);
    size_t kept = 0;
    for (size_t i = 0; i < (size_t)problem->value[N]; i++)
        if (in[i] > limit)
            expected[OUT].value[kept++] = in[i];
    expected[OUT].count = kept;
    expected[TOTAL].value[0] = (double)kept;
}

/* Each element is read once, and the kept ones are written: as many as the parameter says. */
static double bytes(const struct zoo_problem *problem)
{
    return 4.0 * (double)problem->value[N] * (1 + (double)problem->value[KEEP] / 100) + 8;
}

static double flops(const struct zoo_problem *problem)
{
    return (double)problem->value[N];
}

/* Launches --------------------------------------------------------------------------------------*/

static CUresult launch_nothing(struct zoo_call *call)
{
    return zoo_clear(call, call->buffer[TOTAL], 8);
}

static unsigned three_kernel_blocks(const struct zoo_call *call)
{
    return zoo_ceil_div(call->problem->value[N], zoo_tunable(call, "BLOCK"));
}

/* Offsets of 8 bytes for each block, then counts of 4. */
static size_t workspace_three_kernels(const struct zoo_call *call)
{
    return 12 * (size_t)three_kernel_blocks(call) + 12;
}

static CUresult launch_three_kernels(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    float limit = threshold(call->problem);
    unsigned blocks = three_kernel_blocks(call);
    struct zoo_grid grid = {.x = blocks, .threads = (unsigned)zoo_tunable(call, "BLOCK")};
    CUdeviceptr offsets = call->workspace, counts = offsets + 8 * (CUdeviceptr)blocks;
    if (n == 0)
        return launch_nothing(call);
    CUresult status =
        ZOO_LAUNCH(call, "count_blocks", grid, &call->buffer[IN], &n, &limit, &counts);
    if (status == CUDA_SUCCESS)
        status = ZOO_LAUNCH(call, "scan_counts", ((struct zoo_grid){.x = 1, .threads = 1024}),
                            &counts, &blocks, &offsets, &call->buffer[TOTAL]);
    if (status == CUDA_SUCCESS)
        status = ZOO_LAUNCH(call, "write_blocks", grid, &call->buffer[IN], &n, &limit, &offsets,
                            &call->buffer[OUT]);
    return status;
}

static CUresult launch_look_back(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    float limit = threshold(call->problem);
    CUdeviceptr states = call->workspace + 16;
    if (n == 0)
        return launch_nothing(call);
    CUresult status = one_pass_clear(call);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, "compact",
                      ((struct zoo_grid){.x = one_pass_tiles(call),
                                         .threads = (unsigned)zoo_tunable(call, "BLOCK")}),
                      &call->buffer[IN], &n, &limit, &call->buffer[OUT], &call->buffer[TOTAL],
                      &call->workspace, &states);
}

static CUresult launch_tickets(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    float limit = threshold(call->problem);
    CUdeviceptr states = call->workspace + 16;
    struct zoo_grid grid = one_pass_grid(call);
    if (n == 0)
        return launch_nothing(call);
    grid.x = one_pass_blocks(call, "compact", grid);
    if (grid.x == 0)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    CUresult status = one_pass_clear(call);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, "compact", grid, &call->buffer[IN], &n, &limit, &call->buffer[OUT],
                      &call->buffer[TOTAL], &call->workspace, &states);
}

static CUresult launch_recompute(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    float limit = threshold(call->problem);
    unsigned threads = (unsigned)zoo_tunable(call, "BLOCK");
    if (n == 0)
        return launch_nothing(call);
    return ZOO_LAUNCH(call, "compact",
                      ((struct zoo_grid){.x = zoo_ceil_div(n, 4 * threads), .threads = threads}),
                      &call->buffer[IN], &n, &limit, &call->buffer[OUT], &call->buffer[TOTAL]);
}

/* What a tile keeps is packed in shared memory. */
static unsigned overlapped_shared(const struct zoo_call *call)
{
    return 16 * (unsigned)(zoo_tunable(call, "BLOCK") * zoo_tunable(call, "ROWS"));
}

static bool overlapped_fits(const struct zoo_call *call)
{
    return overlapped_shared(call) + 1024 <= (unsigned)call->device->shared_per_block;
}

static CUresult launch_overlapped(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    float limit = threshold(call->problem);
    struct zoo_grid grid = one_pass_tile_grid(call);
    if (n == 0)
        return launch_nothing(call);
    CUresult status =
        ZOO_LAUNCH(call, "count_tiles", grid, &call->buffer[IN], &n, &limit, &call->workspace);
    if (status != CUDA_SUCCESS)
        return status;
    grid.overlaps = true;
    grid.shared = overlapped_shared(call);
    return ZOO_LAUNCH(call, "compact", grid, &call->buffer[IN], &n, &limit, &call->buffer[OUT],
                      &call->buffer[TOTAL], &call->workspace);
}

static const struct zoo_variant variants[] = {
    {"block_ranks", "counts, their scan, ranks by a scan in shared memory", launch_three_kernels,
     workspace_three_kernels, .traits = ZOO_DETERMINISTIC},
    {"ballot_ranks", "ranks by ballots and counts of bits", launch_three_kernels,
     workspace_three_kernels, .traits = ZOO_DETERMINISTIC},
    {"recompute", "short inputs: each block counts what lies before it", launch_recompute,
     .takes = one_pass_is_short, .traits = ZOO_DETERMINISTIC},
    {"overlapped", "short inputs: tiles packed while the launch before counts them",
     launch_overlapped, one_pass_number_of_each, .takes = one_pass_is_few_tiles,
     .fits = overlapped_fits, .traits = ZOO_DETERMINISTIC},
    {"look_back", "one pass: decoupled look-back, packed writes", launch_look_back,
     one_pass_workspace, .traits = ZOO_DETERMINISTIC},
    {"tickets", "one pass: tiles by tickets, fetched ahead, counts announced on arrival",
     launch_tickets, one_pass_workspace, .fits = one_pass_fits,
     .traits = ZOO_DETERMINISTIC | ZOO_COOPERATIVE},
    {0}};

static const struct zoo_peer peers[] = {{"cub", ZOO_PEER_NVCC, "cub::DeviceSelect::If", NULL}, {0}};

static const char *const edges[] = {
    "n=0,1,2,3,31,32,33,127,128,129,255,256,257,1023,1025,4095,4097 keep=0,50,100",
    "n=8191,8193,70001 keep=1,50,99", "n=3000 dist=constant,ascending,adversarial,special",
    "n=300007 keep=30", NULL};

static const char *const bench[] = {"n=256M keep=50", "n=256M keep=10,90",
                                    "n=1K,16K,64K,256K,1M,16M", NULL};

const struct zoo_family zoo_compaction = {
    .name = "compaction",
    .title = "the elements above a threshold, packed in their order",
    .problem =
        "out holds the elements of in that are greater than a threshold, in their order, and "
        "total how many they are; of uniform numbers 'keep' percent are. NaN is not kept.",
    .parameters = {{"n", "numbers", 0, (int64_t)1 << 34, 1 << 20, NULL},
                   {"keep", "percent of uniform numbers; with a point, the threshold itself", 0,
                    100, 50, NULL, true},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "n=1M",
    ZOO_FAMILY_PARTS,
};
