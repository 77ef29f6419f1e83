/*
 * reduction.c: the family: many numbers to one (sum, min, max, the place of the largest).
 * The steps add up floats, from one atomic per number to 16-byte loads at the memory's limit; the
 * generic variants do the rest: other types, other operations.
 */
#include "zoo/running.h"
#include "zoo/zoo.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { OP_SUM, OP_MIN, OP_MAX, OP_ARGMAX };
enum { N, OP, TYPE };
enum { IN, RESULT };
enum { SMALL_BLOCK = 256 }; /* of a last pass: it ends sooner than a large one */

static const char *const operations[] = {"sum", "min", "max", "argmax", NULL};
static const enum zoo_type types[] = {ZOO_F32, ZOO_F64, ZOO_I32, ZOO_BF16};
static const char *const type_names[] = {"f32", "f64", "i32", "bf16", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static enum zoo_type result_type(const struct zoo_problem *problem)
{
    enum zoo_type type = types[problem->value[TYPE]];
    return problem->value[OP] == OP_ARGMAX ? ZOO_I64 : type == ZOO_BF16 ? ZOO_F32 : type;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    buffers[IN] =
        (struct zoo_buffer){"in", ZOO_IN, types[problem->value[TYPE]], (size_t)problem->value[N]};
    buffers[RESULT] = (struct zoo_buffer){"result", ZOO_OUT, result_type(problem), 1};
    return 2;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    zoo_fill(problem, 0, types[problem->value[TYPE]], buffer[IN], (size_t)problem->value[N]);
}

/* The rounding error of n additions in an unknown order: each is off by half a unit of a partial
 * sum no larger than the largest prefix, and the errors add up like a random walk; four times its
 * spread is allowed. */
static void reference_sum(const struct zoo_problem *problem, const void *in,
                          struct zoo_expected *expected)
{
    enum zoo_type type = types[problem->value[TYPE]];
    size_t n = (size_t)problem->value[N];
    struct zoo_running *runs = zoo_run_stretches(type, in, n), all = runs[zoo_stretches(n)];
    long double sum = all.sum, largest = fmaxl(all.largest, fmaxl(-all.lowest, all.highest));
    free(runs);
    double epsilon = type == ZOO_F64 ? DBL_EPSILON : FLT_EPSILON;
    expected->value[0] = type == ZOO_I32 ? (double)(int32_t)(uint32_t)(int64_t)sum : (double)sum;
    expected->bound[0] = type == ZOO_I32 ? 0 : 4 * epsilon * sqrt((double)n + 1) * (double)largest;
    /* Sums that overflow on the way, or hold both infinities, depend on the order. */
    if (type != ZOO_I32 && isfinite((double)sum) && type != ZOO_F64 && largest > FLT_MAX)
        expected->bound[0] = INFINITY;
}

static bool goes_before(int operation, double a, double b) /* a instead of b, which came first */
{
    if (isnan(b))
        return false;
    return isnan(a) || (operation == OP_MIN ? a < b : a > b);
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    int operation = (int)problem->value[OP];
    enum zoo_type type = types[problem->value[TYPE]];
    if (operation == OP_SUM) {
        reference_sum(problem, buffer[IN], &expected[RESULT]);
        return;
    }
    double best = operation == OP_MIN ? INFINITY : -INFINITY;
    if (type == ZOO_I32)
        best = operation == OP_MIN ? INT32_MAX : INT32_MIN;
    int64_t where = -1;
    for (int64_t i = 0; i < problem->value[N]; i++) {
        double x = zoo_get(type, buffer[IN], (size_t)i);
        if (where < 0 || goes_before(operation, x, best)) {
            best = x;
            where = i;
        }
    }
    expected[RESULT].value[0] = operation == OP_ARGMAX ? (double)where : best;
}

static double bytes(const struct zoo_problem *problem)
{
    return (double)problem->value[N] * zoo_type_bytes[types[problem->value[TYPE]]] +
           zoo_type_bytes[result_type(problem)];
}

static double flops(const struct zoo_problem *problem)
{
    return (double)problem->value[N];
}

/* Launches --------------------------------------------------------------------------------------*/

/* What the steps are written for. */
static bool is_f32_sum(const struct zoo_problem *problem)
{
    return problem->value[OP] == OP_SUM && types[problem->value[TYPE]] == ZOO_F32;
}

static bool is_other(const struct zoo_problem *problem)
{
    return !is_f32_sum(problem);
}

/* "reduce" of the steps, "reduce_max_i32" of the generic variants. */
static const char *kernel_name(const struct zoo_problem *problem, const char *stem, char *name)
{
    if (is_f32_sum(problem))
        return stem;
    char *end = stpcpy(stpcpy(name, stem), "_"); /* snprintf would cost more than all the rest */
    end = stpcpy(stpcpy(end, operations[problem->value[OP]]), "_");
    stpcpy(end, type_names[problem->value[TYPE]]);
    return name;
}

static CUresult launch_atomics(struct zoo_call *call, unsigned blocks, unsigned threads)
{
    int64_t n = call->problem->value[N];
    CUresult status = ZOO_LAUNCH(call, "start", (struct zoo_grid){.x = 1}, &call->buffer[RESULT]);
    if (status != CUDA_SUCCESS || n == 0)
        return status;
    return ZOO_LAUNCH(call, "reduce", ((struct zoo_grid){.x = blocks, .threads = threads}),
                      &call->buffer[IN], &n, &call->buffer[RESULT]);
}

static CUresult launch_global_atomics(struct zoo_call *call)
{
    return launch_atomics(call, zoo_ceil_div(call->problem->value[N], 256), 256);
}

static unsigned grid_blocks(const struct zoo_call *call, int64_t n, int64_t per_block)
{
    int64_t most = (int64_t)call->device->sm_count * zoo_tunable(call, "BLOCKS_PER_SM");
    int64_t wanted = (n + per_block - 1) / per_block;
    return (unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

static CUresult launch_block_atomics(struct zoo_call *call)
{
    int block = zoo_tunable(call, "BLOCK");
    return launch_atomics(call, grid_blocks(call, call->problem->value[N], block), (unsigned)block);
}

/* Passes of the same kernel until one block is left, each over what the blocks of the one before
 * left. blocks(n) says how many blocks a pass over n has. Two halves of the workspace take turns.
 * The last pass has at most this many threads. */
static CUresult launch_passes(struct zoo_call *call,
                              unsigned (*blocks)(const struct zoo_call *, int64_t n),
                              unsigned most_at_last)
{
    unsigned threads = (unsigned)zoo_tunable(call, "BLOCK"), count;
    int64_t n = call->problem->value[N];
    CUdeviceptr from = call->buffer[IN], to = call->workspace;
    CUdeviceptr other = to + 16 * (CUdeviceptr)blocks(call, n);
    do {
        count = blocks(call, n);
        CUdeviceptr out = count == 1 ? call->buffer[RESULT] : to;
        if (from != call->buffer[IN] && count == 1 && threads > most_at_last)
            threads = most_at_last;
        CUresult status = ZOO_LAUNCH(
            call, "reduce", ((struct zoo_grid){.x = count, .threads = threads}), &from, &n, &out);
        if (status != CUDA_SUCCESS)
            return status;
        n = count;
        from = to;
        to = other;
        other = from;
    } while (count > 1);
    return CUDA_SUCCESS;
}

static unsigned blocks_of_one_each(const struct zoo_call *call, int64_t n)
{
    return n > 0 ? zoo_ceil_div(n, zoo_tunable(call, "BLOCK")) : 1;
}

/* The second pass is one block. */
static unsigned blocks_of_many(const struct zoo_call *call, int64_t n)
{
    return n <= (int64_t)call->device->sm_count * zoo_tunable(call, "BLOCKS_PER_SM")
               ? 1
               : grid_blocks(call, n, zoo_tunable(call, "BLOCK"));
}

/* Up to 128 KiB one block alone is faster than two launches. Above, many blocks with a load each
 * are better than few with several. */
static unsigned blocks_of_vectors(const struct zoo_call *call, int64_t n)
{
    int64_t bytes = n * zoo_type_bytes[types[call->problem->value[TYPE]]];
    return bytes <= 128 * 1024 ? 1 : grid_blocks(call, bytes, 16 * zoo_tunable(call, "BLOCK"));
}

static CUresult launch_trees(struct zoo_call *call)
{
    return launch_passes(call, blocks_of_one_each, 1024);
}

static CUresult launch_grid_stride(struct zoo_call *call)
{
    return launch_passes(call, blocks_of_many, 1024);
}

static CUresult launch_vectorised(struct zoo_call *call)
{
    return launch_passes(call, blocks_of_vectors, SMALL_BLOCK);
}

/* A first pass of this many blocks and a last one, kernels of their own; or one block alone. */
static CUresult launch_two(struct zoo_call *call, unsigned blocks, struct zoo_grid last)
{
    char name[48];
    int64_t n = call->problem->value[N];
    int partials = (int)blocks;
    struct zoo_grid first = {.x = blocks, .threads = (unsigned)zoo_tunable(call, "BLOCK")};
    CUdeviceptr in = call->buffer[IN], result = call->buffer[RESULT], space = call->workspace;
    CUdeviceptr out = blocks == 1 ? result : space;
    const char *kernel = kernel_name(call->problem, "reduce", name);
    CUresult status = is_f32_sum(call->problem)
                          ? ZOO_LAUNCH(call, kernel, first, &in, &n, &out)
                          : ZOO_LAUNCH(call, kernel, first, &in, &n, &space, &result);
    if (status != CUDA_SUCCESS || blocks == 1)
        return status;
    return ZOO_LAUNCH(call, kernel_name(call->problem, "again", name), last, &space, &partials,
                      &result);
}

static unsigned overlapped_blocks(const struct zoo_call *call)
{
    int64_t bytes = call->problem->value[N] * zoo_type_bytes[types[call->problem->value[TYPE]]];
    int64_t per_block = (int64_t)16 * zoo_tunable(call, "BLOCK") * zoo_tunable(call, "LOADS");
    return bytes <= (int64_t)1024 * zoo_tunable(call, "ALONE")
               ? 1
               : grid_blocks(call, bytes, per_block);
}

static CUresult launch_overlapped(struct zoo_call *call)
{
    struct zoo_grid last = {
        .x = 1, .threads = (unsigned)zoo_tunable(call, "LAST"), .overlaps = true};
    return launch_two(call, overlapped_blocks(call), last);
}

static CUresult launch_generic(struct zoo_call *call)
{
    return launch_two(call, blocks_of_vectors(call, call->problem->value[N]),
                      (struct zoo_grid){.x = 1, .threads = SMALL_BLOCK});
}

static size_t workspace_overlapped(const struct zoo_call *call)
{
    return 16 * (size_t)overlapped_blocks(call);
}

static size_t workspace_trees(const struct zoo_call *call)
{
    size_t first = blocks_of_one_each(call, call->problem->value[N]);
    return 16 * (first + blocks_of_one_each(call, (int64_t)first));
}

static size_t workspace_grid(const struct zoo_call *call)
{
    return 16 * 2 * (size_t)call->device->sm_count * (size_t)zoo_tunable(call, "BLOCKS_PER_SM");
}

static const struct zoo_variant variants[] = {
    {"global_atomics", "one atomic for each number", launch_global_atomics, .takes = is_f32_sum},
    {"interleaved", "a tree in shared memory, every second thread working", launch_trees,
     workspace_trees, .takes = is_f32_sum, .traits = ZOO_DETERMINISTIC},
    {"sequential", "the tree with the working threads packed", launch_trees, workspace_trees,
     .takes = is_f32_sum, .traits = ZOO_DETERMINISTIC},
    {"shared_tree", "many numbers per thread before the tree", launch_grid_stride, workspace_grid,
     .takes = is_f32_sum, .traits = ZOO_DETERMINISTIC},
    {"warp_shuffle", "registers instead of shared memory", launch_grid_stride, workspace_grid,
     .takes = is_f32_sum, .traits = ZOO_DETERMINISTIC},
    {"block_atomics", "one launch, one atomic for each block", launch_block_atomics,
     .takes = is_f32_sum},
    {"overlapped", "two passes by vectors, the second there before the first ends",
     launch_overlapped, workspace_overlapped, .takes = is_f32_sum, .traits = ZOO_DETERMINISTIC},
    {"vectorised", "16-byte loads, several in flight, two passes", launch_vectorised,
     workspace_grid, .takes = is_f32_sum, .traits = ZOO_DETERMINISTIC},
    {"generic_overlapped", "overlapped for other types and operations", launch_overlapped,
     workspace_overlapped, .takes = is_other, .traits = ZOO_DETERMINISTIC},
    {"generic", "vectorised for other types and operations", launch_generic, workspace_grid,
     .takes = is_other, .traits = ZOO_DETERMINISTIC},
    {0}};

static const struct zoo_peer peers[] = {
    {"cub", ZOO_PEER_NVCC, "cub::DeviceReduce::Sum, Min, Max, ArgMax", .takes = NULL},
    {"torch", ZOO_PEER_PYTHON, "getattr(torch, {'min': 'amin', 'max': 'amax'}.get(op, op))(x[0])",
     .takes = NULL},
    {0}};

static const char *const edges[] = {
    "n=0,1,2,31,32,33,63,65,255,256,257,1023,1024,1025,4099 op=sum,max type=f32",
    "n=0,1,33,1000,5000 op=sum,min,max,argmax type=f64,i32,bf16",
    "n=1,257,2048 op=argmax,min type=f32 dist=constant,ascending,special",
    "n=3000 op=sum,max type=f32,bf16 dist=adversarial,special,constant",
    "n=30 op=sum dist=special seed=191", /* overflows in one order, not in another */
    "n=100003 op=sum,argmax type=f32,i32",
    NULL};

static const char *const bench[] = {"n=256M type=f32 op=sum",
                                    "n=128M type=f64 op=sum",
                                    "n=512M type=bf16 op=sum",
                                    "n=256M type=i32 op=max",
                                    "n=256M type=f32 op=argmax",
                                    "n=1K,16K,64K,256K,1M,16M",
                                    NULL};

const struct zoo_family zoo_reduction = {
    .name = "reduction",
    .title = "many numbers to one",
    .problem = "The sum, minimum or maximum of n numbers, or the index of the first largest one. "
               "NaN wins every comparison. bf16 is summed in f32, and its result is f32.",
    .parameters = {{"n", "numbers", 0, (int64_t)1 << 34, 1 << 20, NULL},
                   {"op", "sum, min, max or argmax", 0, 3, 0, operations},
                   {"type", "of the numbers", 0, 3, 0, type_names},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "n=1M",
    ZOO_FAMILY_PARTS,
};
