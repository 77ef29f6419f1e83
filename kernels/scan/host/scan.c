/*
 * scan.c: the family: running sums, each with its own element (inclusive) or without (exclusive).
 * The variants go from scans by blocks (4n bytes) to one pass at the memory's limit (2n). They scan
 * f32; the generic variants scan the other types with the fastest of these techniques.
 */
#include "one_pass.h"
#include "zoo/running.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { N, KIND, TYPE };
enum { IN, OUT };

static const char *const kinds[] = {"inclusive", "exclusive", NULL};
static const enum zoo_type types[] = {ZOO_F32, ZOO_I32};
static const char *const type_names[] = {"f32", "i32", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    enum zoo_type type = types[problem->value[TYPE]];
    buffers[IN] = (struct zoo_buffer){"in", ZOO_IN, type, (size_t)problem->value[N]};
    buffers[OUT] = (struct zoo_buffer){"out", ZOO_OUT, type, (size_t)problem->value[N]};
    return 2;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    zoo_fill(problem, 0, types[problem->value[TYPE]], buffer[IN], (size_t)problem->value[N]);
}

/* A sum of i elements, added in an unknown order: each addition rounds by half a unit of a partial
 * sum, and the errors add up like a random walk; the bound is four times its spread. A partial sum
 * need not be a prefix: it may be of any part, whose size is bounded by the largest element and the
 * spread of the prefixes. */
static void expect_stretch(const struct zoo_problem *problem, const void *in, size_t from,
                           size_t to, struct zoo_running running, struct zoo_expected *expected)
{
    enum zoo_type type = types[problem->value[TYPE]];
    bool exclusive = problem->value[KIND] == 1;
    for (size_t i = from; i < to; i++) {
        long double before = running.sum;
        zoo_run_over(&running, zoo_get(type, in, i));
        long double shown = exclusive ? before : running.sum;
        double spread = (double)(running.highest - running.lowest);
        expected->value[i] =
            type == ZOO_I32 ? (double)(int32_t)(uint32_t)(int64_t)shown : (double)shown;
        expected->bound[i] = type == ZOO_I32 ? 0 : 4 * FLT_EPSILON * sqrt((double)i + 1) * spread;
    }
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    size_t n = (size_t)problem->value[N], stretches = zoo_stretches(n);
    struct zoo_running *before = zoo_run_stretches(types[problem->value[TYPE]], buffer[IN], n);
#pragma omp parallel for schedule(dynamic) if (stretches > 1)
    for (size_t s = 0; s < stretches; s++)
        expect_stretch(problem, buffer[IN], s * ZOO_STRETCH,
                       s + 1 < stretches ? (s + 1) * ZOO_STRETCH : n, before[s], &expected[OUT]);
    free(before);
}

static double bytes(const struct zoo_problem *problem)
{
    return 8.0 * (double)problem->value[N];
}

static double flops(const struct zoo_problem *problem)
{
    return (double)problem->value[N];
}

/* Launches --------------------------------------------------------------------------------------*/

static bool takes_f32(const struct zoo_problem *problem)
{
    return types[problem->value[TYPE]] == ZOO_F32;
}

static bool takes_short_f32(const struct zoo_problem *problem)
{
    return takes_f32(problem) && one_pass_is_short(problem);
}

static bool takes_few_f32_tiles(const struct zoo_problem *problem)
{
    return takes_f32(problem) && one_pass_is_few_tiles(problem);
}

static bool takes_generic(const struct zoo_problem *problem)
{
    return !takes_f32(problem);
}

/* A kernel of the generic variants: "scan_i32". */
static const char *generic_kernel(const struct zoo_problem *problem, const char *stem, char *name)
{
    stpcpy(stpcpy(stpcpy(name, stem), "_"), type_names[problem->value[TYPE]]);
    return name;
}

/* Scans n elements by blocks, scans the blocks' sums in the same way, and adds those. The sums of
 * each level follow those of the level before. */
static CUresult scan_by_blocks(struct zoo_call *call, CUdeviceptr in, int64_t n, CUdeviceptr out,
                               CUdeviceptr sums, int exclusive, unsigned threads)
{
    int64_t per_block = zoo_tunable(call, "BLOCK");
    unsigned blocks = zoo_ceil_div(n, per_block);
    CUresult status =
        ZOO_LAUNCH(call, "scan_blocks", ((struct zoo_grid){.x = blocks, .threads = threads}), &in,
                   &n, &out, &sums, &exclusive);
    if (blocks == 1 || status != CUDA_SUCCESS)
        return status;
    status = scan_by_blocks(call, sums, blocks, sums, sums + 4 * (CUdeviceptr)blocks, 1, threads);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, "add_sums",
                      ((struct zoo_grid){.x = blocks, .threads = (unsigned)per_block}), &out, &n,
                      &sums);
}

static CUresult launch_by_blocks(struct zoo_call *call, unsigned threads)
{
    int64_t n = call->problem->value[N];
    if (n == 0)
        return CUDA_SUCCESS;
    return scan_by_blocks(call, call->buffer[IN], n, call->buffer[OUT], call->workspace,
                          (int)call->problem->value[KIND], threads);
}

static CUresult launch_blocks(struct zoo_call *call)
{
    return launch_by_blocks(call, (unsigned)zoo_tunable(call, "BLOCK"));
}

static CUresult launch_blelloch(struct zoo_call *call)
{
    return launch_by_blocks(call, (unsigned)zoo_tunable(call, "BLOCK") / 2);
}

static size_t workspace_blocks(const struct zoo_call *call)
{
    int64_t n = call->problem->value[N], block = zoo_tunable(call, "BLOCK");
    size_t sums = 1;
    while (n > 1 && block > 1) {
        n = zoo_ceil_div(n, block);
        sums += (size_t)n;
    }
    return 4 * sums;
}

static unsigned two_pass_blocks(const struct zoo_call *call)
{
    int64_t tiles = zoo_ceil_div(call->problem->value[N], 4 * (int64_t)zoo_tunable(call, "BLOCK"));
    int64_t most = (int64_t)call->device->sm_count * zoo_tunable(call, "BLOCKS_PER_SM");
    return (unsigned)(tiles < most ? tiles : most);
}

static CUresult launch_two_pass(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    int exclusive = (int)call->problem->value[KIND];
    unsigned blocks = two_pass_blocks(call);
    struct zoo_grid grid = {.x = blocks, .threads = (unsigned)zoo_tunable(call, "BLOCK")};
    struct zoo_grid one = {.x = 1, .threads = grid.threads};
    if (n == 0)
        return CUDA_SUCCESS;
    CUresult status = ZOO_LAUNCH(call, "sum_shares", grid, &call->buffer[IN], &n, &call->workspace);
    if (status == CUDA_SUCCESS)
        status = ZOO_LAUNCH(call, "scan_sums", one, &call->workspace, &blocks);
    if (status == CUDA_SUCCESS)
        status = ZOO_LAUNCH(call, "scan_shares", grid, &call->buffer[IN], &n, &call->buffer[OUT],
                            &call->workspace, &exclusive);
    return status;
}

static size_t workspace_two_pass(const struct zoo_call *call)
{
    return 4 * (size_t)two_pass_blocks(call) + 4;
}

/* By tiles: a block for each, or blocks that stay. */
static CUresult scan_tiles(struct zoo_call *call, const char *kernel, struct zoo_grid grid)
{
    int64_t n = call->problem->value[N];
    int exclusive = (int)call->problem->value[KIND];
    CUdeviceptr states = call->workspace + 16;
    if (n == 0)
        return CUDA_SUCCESS;
    grid.x = grid.cooperative ? one_pass_blocks(call, kernel, grid) : one_pass_tiles(call);
    if (grid.x == 0)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    CUresult status = one_pass_clear(call);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, kernel, grid, &call->buffer[IN], &n, &call->buffer[OUT],
                      &call->workspace, &states, &exclusive);
}

static CUresult launch_look_back(struct zoo_call *call)
{
    return scan_tiles(call, "scan", one_pass_tile_grid(call));
}

static CUresult launch_tickets(struct zoo_call *call)
{
    return scan_tiles(call, "scan", one_pass_grid(call));
}

/* An adder and a writer for each part of a tile, a warp that gathers and one that fetches. */
static struct zoo_grid bulk_grid(const struct zoo_call *call)
{
    struct zoo_grid grid = one_pass_grid(call);
    grid.threads = 2 * grid.threads + 64;
    return grid;
}

static CUresult launch_bulk(struct zoo_call *call)
{
    return scan_tiles(call, "scan", bulk_grid(call));
}

/* Four slots for each block that can be resident. */
static size_t workspace_persistent(const struct zoo_call *call)
{
    return 4 * 8 * 32 * (size_t)call->device->sm_count;
}

static CUresult launch_persistent(struct zoo_call *call)
{
    int64_t n = call->problem->value[N];
    int exclusive = (int)call->problem->value[KIND];
    struct zoo_grid grid = one_pass_grid(call);
    if (n == 0)
        return CUDA_SUCCESS;
    grid.x = one_pass_blocks(call, "scan", grid);
    if (grid.x == 0)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    CUresult status = zoo_clear(call, call->workspace, 4 * 8 * (size_t)grid.x);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, "scan", grid, &call->buffer[IN], &n, &call->buffer[OUT],
                      &call->workspace, &exclusive);
}

/* Each block adds up everything before its tile of four elements a thread. */
static CUresult scan_short(struct zoo_call *call, const char *kernel, unsigned threads)
{
    int64_t n = call->problem->value[N];
    int exclusive = (int)call->problem->value[KIND];
    if (n == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, kernel,
                      ((struct zoo_grid){.x = zoo_ceil_div(n, 4 * threads), .threads = threads}),
                      &call->buffer[IN], &n, &call->buffer[OUT], &exclusive);
}

static CUresult launch_recompute(struct zoo_call *call)
{
    return scan_short(call, "scan", (unsigned)zoo_tunable(call, "BLOCK"));
}

/* One launch sums the tiles; the other, which overlaps it, scans them. */
static CUresult scan_overlapped(struct zoo_call *call, const char *sum, const char *scan,
                                struct zoo_grid grid)
{
    int64_t n = call->problem->value[N];
    int exclusive = (int)call->problem->value[KIND];
    if (n == 0)
        return CUDA_SUCCESS;
    CUresult status = ZOO_LAUNCH(call, sum, grid, &call->buffer[IN], &n, &call->workspace);
    if (status != CUDA_SUCCESS)
        return status;
    grid.overlaps = true;
    return ZOO_LAUNCH(call, scan, grid, &call->buffer[IN], &n, &call->buffer[OUT], &call->workspace,
                      &exclusive);
}

static CUresult launch_overlapped(struct zoo_call *call)
{
    return scan_overlapped(call, "sum_tiles", "scan", one_pass_tile_grid(call));
}

/* Short inputs as in recompute, others as in look_back. */
enum { GENERIC_SHORT = 65536 };

static size_t workspace_generic(const struct zoo_call *call)
{
    return call->problem->value[N] <= GENERIC_SHORT ? 0 : one_pass_workspace(call);
}

static CUresult launch_generic(struct zoo_call *call)
{
    char name[48];
    if (call->problem->value[N] <= GENERIC_SHORT)
        return scan_short(call, generic_kernel(call->problem, "scan_short", name),
                          (unsigned)zoo_tunable(call, "SHORT_BLOCK"));
    return scan_tiles(call, generic_kernel(call->problem, "scan", name), one_pass_tile_grid(call));
}

/* Short inputs as in overlapped, others as in bulk. */
static struct zoo_grid generic_overlapped_grid(const struct zoo_call *call)
{
    unsigned threads = (unsigned)zoo_tunable(call, "SHORT_BLOCK");
    unsigned tile = 4 * threads * (unsigned)zoo_tunable(call, "SHORT_ROWS");
    return (struct zoo_grid){.x = zoo_ceil_div(call->problem->value[N], tile), .threads = threads};
}

static size_t workspace_generic_sm90(const struct zoo_call *call)
{
    return one_pass_is_few_tiles(call->problem) ? 4 * (size_t)generic_overlapped_grid(call).x
                                                : one_pass_workspace(call);
}

static CUresult launch_generic_sm90(struct zoo_call *call)
{
    char sum[48], scan[48];
    if (!one_pass_is_few_tiles(call->problem))
        return scan_tiles(call, generic_kernel(call->problem, "scan", scan), bulk_grid(call));
    return scan_overlapped(call, generic_kernel(call->problem, "sum_short", sum),
                           generic_kernel(call->problem, "scan_short", scan),
                           generic_overlapped_grid(call));
}

/* Integer sums have the same bits in whatever order they are added. */
static const struct zoo_variant variants[] = {
    {"hillis_steele", "every thread adds the element 1, 2, 4 .. before it", launch_blocks,
     workspace_blocks, .takes = takes_f32, .traits = ZOO_DETERMINISTIC},
    {"blelloch", "sums up a tree, prefixes down it", launch_blelloch, workspace_blocks,
     .takes = takes_f32, .traits = ZOO_DETERMINISTIC},
    {"warp_scan", "shuffles within warps", launch_blocks, workspace_blocks, .takes = takes_f32,
     .traits = ZOO_DETERMINISTIC},
    {"two_pass", "reduce shares, then scan them: 3n bytes", launch_two_pass, workspace_two_pass,
     .takes = takes_f32, .traits = ZOO_DETERMINISTIC},
    {"recompute", "short inputs: each block adds up what comes before it", launch_recompute,
     .takes = takes_short_f32, .traits = ZOO_DETERMINISTIC},
    {"overlapped", "short inputs: tiles scanned while the launch before sums them",
     launch_overlapped, one_pass_number_of_each, .takes = takes_few_f32_tiles,
     .traits = ZOO_DETERMINISTIC},
    {"look_back", "one pass: decoupled look-back, 2n bytes", launch_look_back, one_pass_workspace,
     .takes = takes_f32},
    {"persistent", "one pass in waves: blocks gather all sums, tiles in flight", launch_persistent,
     workspace_persistent, .takes = takes_f32, .fits = one_pass_fits,
     .traits = ZOO_DETERMINISTIC | ZOO_COOPERATIVE},
    {"tickets", "one pass: tiles by tickets, fetched ahead, sums announced on arrival",
     launch_tickets, one_pass_workspace, .takes = takes_f32, .fits = one_pass_fits,
     .traits = ZOO_COOPERATIVE},
    {"bulk", "one pass: warps with roles, tiles by bulk copies, loads never stop", launch_bulk,
     one_pass_workspace, .takes = takes_f32, .fits = one_pass_fits, .traits = ZOO_COOPERATIVE},
    {"generic", "other types: short inputs as in recompute, others as in look_back", launch_generic,
     workspace_generic, .takes = takes_generic, .traits = ZOO_DETERMINISTIC},
    {"generic_sm90", "other types: short inputs as in overlapped, others as in bulk",
     launch_generic_sm90, workspace_generic_sm90, .takes = takes_generic, .fits = one_pass_fits,
     .traits = ZOO_DETERMINISTIC | ZOO_COOPERATIVE},
    {0}};

static const struct zoo_peer peers[] = {
    {"cub", ZOO_PEER_NVCC, "cub::DeviceScan::InclusiveSum, ExclusiveSum", NULL},
    {"torch", ZOO_PEER_PYTHON, "torch.cumsum(x[0], 0, dtype=x[0].dtype, out=x[1])", NULL},
    {0}};

static const char *const edges[] = {
    "n=0,1,2,3,31,32,33,127,128,129,255,256,257,1023,1024,1025,4095,4097 kind=inclusive,exclusive",
    "n=0,1,2,3,100,127,128,1025,8191,8193,70001 type=i32 kind=inclusive,exclusive",
    "n=3000 dist=constant,ascending,adversarial",
    "n=3000 type=i32 dist=constant,ascending",
    "n=8192,16385,300007 type=f32,i32",
    "n=2100001 type=i32",
    NULL};

static const char *const bench[] = {"n=256M", "n=256M type=i32 kind=exclusive",
                                    "n=1K,16K,64K,256K,1M,16M", NULL};

const struct zoo_family zoo_scan = {
    .name = "scan",
    .title = "running sums",
    .problem = "out[i] is the sum of in[0] to in[i] (inclusive) or to in[i-1] (exclusive). "
               "Integers wrap.",
    .parameters = {{"n", "numbers", 0, (int64_t)1 << 34, 1 << 20, NULL},
                   {"kind", "inclusive or exclusive", 0, 1, 0, kinds},
                   {"type", "of the numbers: f32 or i32", 0, 1, 0, type_names},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "n=1M",
    ZOO_FAMILY_PARTS,
};
