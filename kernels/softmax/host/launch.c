/*
 * launch.c: how many threads and blocks the kernels of this family get.
 */
#include "softmax.h"

enum {
    VECTOR = 16,
    MOST_THREADS = 1024,
    MOST_BLOCKS = 8 /* of a cluster that every GPU with clusters takes */
};

/* Of a row that begins at a multiple of 16 bytes. */
static int64_t vectors_of(const struct zoo_problem *problem)
{
    return (problem->value[SM_COLS] * zoo_type_bytes[softmax_type(problem)] + VECTOR - 1) / VECTOR;
}

/* Whole warps that hold a row, some vectors a thread. */
static unsigned threads_for(int64_t vectors, int each)
{
    unsigned warps = zoo_ceil_div(vectors, 32 * (int64_t)each);
    return 32 * (warps ? warps : 1);
}

/* Blocks for a row, a power of two: clusters of other sizes leave SMs idle. */
static unsigned blocks_for(int64_t vectors, int64_t held_by_block)
{
    unsigned blocks = 1;
    while (blocks < MOST_BLOCKS && blocks * held_by_block < vectors)
        blocks *= 2;
    return blocks;
}

/* The steps
 * ---------------------------------------------------------------------------------------*/

static CUresult launch_row_blocks(struct zoo_call *call, struct zoo_grid grid)
{
    int64_t cols = call->problem->value[SM_COLS];
    float scale = zoo_as_float(call->problem->value[SM_SCALE]);
    if (grid.x == 0 || cols == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, "softmax", grid, &call->buffer[SM_IN], &cols, &scale,
                      &call->buffer[SM_OUT]);
}

CUresult softmax_launch_simple(struct zoo_call *call)
{
    return launch_row_blocks(call,
                             (struct zoo_grid){.x = (unsigned)call->problem->value[SM_ROWS],
                                               .threads = (unsigned)zoo_tunable(call, "BLOCK")});
}

bool softmax_fits_registers(const struct zoo_call *call)
{
    return threads_for(vectors_of(call->problem), zoo_tunable(call, "VECTORS")) <= MOST_THREADS;
}

CUresult softmax_launch_registers(struct zoo_call *call)
{
    return launch_row_blocks(
        call, (struct zoo_grid){
                  .x = (unsigned)call->problem->value[SM_ROWS],
                  .threads = threads_for(vectors_of(call->problem), zoo_tunable(call, "VECTORS"))});
}

static int64_t shared_bytes(const struct zoo_call *call)
{
    return zoo_tunable(call, "STAGES") * vectors_of(call->problem) * VECTOR;
}

/* Less than 1 KiB is the kernel's own. */
bool softmax_fits_shared(const struct zoo_call *call)
{
    return shared_bytes(call) + 1024 <= call->device->shared_per_block;
}

CUresult softmax_launch_shared(struct zoo_call *call)
{
    int64_t rows = call->problem->value[SM_ROWS], cols = call->problem->value[SM_COLS];
    float scale = zoo_as_float(call->problem->value[SM_SCALE]);
    unsigned threads = (unsigned)zoo_tunable(call, "BLOCK"), shared = (unsigned)shared_bytes(call);
    if (rows == 0 || cols == 0)
        return CUDA_SUCCESS;
    int64_t most = (int64_t)zoo_resident(call, "softmax", threads, shared) * call->device->sm_count;
    if (most == 0)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    return ZOO_LAUNCH(call, "softmax",
                      ((struct zoo_grid){.x = (unsigned)(rows < most ? rows : most),
                                         .threads = threads,
                                         .shared = shared}),
                      &call->buffer[SM_IN], &rows, &cols, &scale, &call->buffer[SM_OUT]);
}

/* Of cluster.cu. */
static int64_t held_by_block(const struct zoo_call *call)
{
    return (int64_t)zoo_tunable(call, "BLOCK") * zoo_tunable(call, "VECTORS");
}

CUresult softmax_launch_cluster(struct zoo_call *call)
{
    unsigned blocks = blocks_for(vectors_of(call->problem), held_by_block(call));
    return launch_row_blocks(
        call, (struct zoo_grid){.x = (unsigned)call->problem->value[SM_ROWS] * blocks,
                                .threads = (unsigned)zoo_tunable(call, "BLOCK"),
                                .cluster = blocks});
}

bool softmax_fits_cluster(const struct zoo_call *call)
{
    return vectors_of(call->problem) <= MOST_BLOCKS * held_by_block(call);
}

/* The generic ones, forward and backward: they have the same arguments
 * ------------------------------*/

/* "block_bf16", "block_bias_bf16". */
static void name_kernel(const struct zoo_problem *problem, const char *stem, char *name)
{
    char *end = stpcpy(name, stem);
    if (problem->value[SM_STEP] == STEP_FORWARD && problem->value[SM_MASK] & MASK_ADDITIVE)
        end = stpcpy(end, "_bias");
    stpcpy(stpcpy(end, "_"), zoo_type_names[softmax_type(problem)]);
}

/* Do rows of all buffers begin at the same place within 16 bytes? A bias begins anew with each
 * group. */
static bool lie_alike(const struct zoo_call *call)
{
    const int64_t *value = call->problem->value;
    const CUdeviceptr *buffer = call->buffer;
    int64_t bytes = value[SM_COLS] * zoo_type_bytes[softmax_type(call->problem)];
    bool backward = value[SM_STEP] == STEP_BACKWARD;
    bool biased = !backward && value[SM_MASK] & MASK_ADDITIVE;
    bool alike = true;
    if (backward || biased)
        alike = (buffer[SM_IN] - buffer[SM_SECOND]) % VECTOR == 0;
    if (biased)
        alike = alike && bytes % VECTOR * (value[SM_GROUP] % VECTOR) % VECTOR == 0;
    if (backward || value[SM_OP] != OP_LOG_SUM_EXP)
        alike = alike && (buffer[SM_IN] - buffer[SM_OUT]) % VECTOR == 0;
    return alike;
}

/* The most that a row touches of vectors that begin at multiples of 16 bytes. */
static int64_t vectors_touched(const struct zoo_call *call)
{
    int64_t bytes = call->problem->value[SM_COLS] * zoo_type_bytes[softmax_type(call->problem)];
    bool begins_inside = bytes % VECTOR != 0 || call->buffer[SM_IN] % VECTOR != 0;
    return vectors_of(call->problem) + (lie_alike(call) && begins_inside);
}

/* log_lanes is the last argument of some kernels; the others do not look at it. */
static CUresult launch_named(struct zoo_call *call, const char *stem, struct zoo_grid grid,
                             unsigned log_lanes)
{
    const struct zoo_problem *problem = call->problem;
    int64_t rows = problem->value[SM_ROWS], cols = problem->value[SM_COLS];
    int64_t group = problem->value[SM_GROUP], mask = problem->value[SM_MASK];
    int ends = (int)mask & (MASK_CAUSAL | MASK_PADDING), op = (int)problem->value[SM_OP];
    float scale = zoo_as_float(problem->value[SM_SCALE]);
    int whole = lie_alike(call);
    char name[32];
    name_kernel(problem, stem, name);
    return ZOO_LAUNCH(call, name, grid, &call->buffer[SM_IN], &call->buffer[SM_SECOND],
                      &call->buffer[SM_LENGTHS], &call->buffer[SM_OUT], &rows, &cols, &group, &ends,
                      &scale, &op, &whole, &log_lanes);
}

static bool has_nothing_to_do(const struct zoo_problem *problem)
{
    return problem->value[SM_ROWS] == 0 ||
           (problem->value[SM_COLS] == 0 && problem->value[SM_OP] != OP_LOG_SUM_EXP);
}

/* Vectors of a row that a thread holds; a bias takes as much room as the row. */
static int vectors_each(const struct zoo_call *call)
{
    bool biased = call->problem->value[SM_STEP] == STEP_FORWARD &&
                  call->problem->value[SM_MASK] & MASK_ADDITIVE;
    return zoo_tunable(call, "VECTORS") / (biased ? 2 : 1);
}

/* Rows without masks, of whole vectors: there are kernels that do nothing else. */
static bool is_plain(const struct zoo_call *call)
{
    return call->problem->value[SM_MASK] == 0 && lie_alike(call) &&
           vectors_touched(call) * VECTOR ==
               call->problem->value[SM_COLS] * zoo_type_bytes[softmax_type(call->problem)];
}

CUresult softmax_launch_generic(struct zoo_call *call)
{
    enum { LANES_EACH = 4, BLOCK = 256, PLAIN_THREADS = 512 }; /* as in the kernels */
    int64_t rows = call->problem->value[SM_ROWS], vectors = vectors_touched(call);
    unsigned log_lanes = 0, threads = threads_for(vectors, vectors_each(call));
    if (has_nothing_to_do(call->problem))
        return CUDA_SUCCESS;
    if (vectors <= 32 * LANES_EACH) {
        while (log_lanes < 5 && 1 << log_lanes < vectors)
            log_lanes++;
        struct zoo_grid grid = {.x = zoo_ceil_div(rows << log_lanes, BLOCK), .threads = BLOCK};
        return launch_named(call, vectors <= 32 ? "short" : "lanes", grid, log_lanes);
    }
    unsigned plain_threads = threads_for(vectors, zoo_tunable(call, "PLAIN"));
    if (is_plain(call) && plain_threads <= PLAIN_THREADS)
        return launch_named(call, "plain",
                            (struct zoo_grid){.x = (unsigned)rows, .threads = plain_threads}, 0);
    if (threads <= MOST_THREADS)
        return launch_named(call, "block",
                            (struct zoo_grid){.x = (unsigned)rows, .threads = threads}, 0);
    return launch_named(call, "long",
                        (struct zoo_grid){.x = (unsigned)rows, .threads = MOST_THREADS}, 0);
}

bool softmax_fits_generic_cluster(const struct zoo_call *call)
{
    return vectors_of(call->problem) + 1 <=
           (int64_t)MOST_BLOCKS * MOST_THREADS * vectors_each(call);
}

CUresult softmax_launch_generic_cluster(struct zoo_call *call)
{
    int64_t vectors = vectors_touched(call);
    int each = vectors_each(call);
    unsigned blocks = blocks_for(vectors, (int64_t)zoo_tunable(call, "THREADS") * each);
    if (has_nothing_to_do(call->problem))
        return CUDA_SUCCESS;
    struct zoo_grid grid = {.x = (unsigned)call->problem->value[SM_ROWS] * blocks,
                            .threads = threads_for(zoo_ceil_div(vectors, blocks), each),
                            .cluster = blocks};
    return launch_named(call, is_plain(call) ? "plain" : "cluster", grid, 0);
}
