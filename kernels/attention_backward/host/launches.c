/*
 * launches.c: the variants of attention_backward: which problems each takes, what its kernels are
 * told, and how they are launched.
 */
#include "backward.h"

#include "../../attention/host/plan.h"
#include "zoo/philox.h"

#include <stdio.h>

enum { BATCH = BACKWARD_P_BATCH, HEADS = BACKWARD_P_HEADS, GROUP = BACKWARD_P_GROUP };
enum { QUERIES = BACKWARD_P_QUERIES, KEYS = BACKWARD_P_KEYS, DIM = BACKWARD_P_DIM };
enum { TYPE = BACKWARD_P_TYPE, MASK = BACKWARD_P_MASK };
enum { F32 = 2 };    /* of type_names */
enum { KEPT = 128 }; /* rows of a block of the Hopper steps, and of a tile of the workspace */

static const char *const type_names[] = {"bf16", "f16", "f32"};

static int64_t q_heads(const struct zoo_problem *problem)
{
    return problem->value[BATCH] * problem->value[HEADS] * problem->value[GROUP];
}
/* Rows of the workspace, in whole tiles: of a head of a sequence; packed, of a head. */
static int64_t padded_of(const struct zoo_problem *problem)
{
    if (backward_is_packed(problem))
        return (backward_all_rows(problem, false) / KEPT + problem->value[BATCH]) * KEPT;
    return (problem->value[QUERIES] + KEPT - 1) / KEPT * KEPT;
}
static int64_t rows_of(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    int64_t heads = backward_is_packed(problem) ? v[HEADS] * v[GROUP] : q_heads(problem);
    return heads * padded_of(problem);
}

/* What naive and ragged are told besides. */
static void add_ragged(const struct zoo_call *call, struct backward_arguments *g)
{
    const struct zoo_problem *problem = call->problem;
    const int64_t *v = problem->value;
    int64_t heads = v[HEADS] * v[GROUP];
    bool packed = backward_is_packed(problem);
    g->q_begin = packed ? call->buffer[BACKWARD_B_Q_BEGIN] : 0;
    g->k_begin = packed ? call->buffer[BACKWARD_B_K_BEGIN] : 0;
    g->lengths = backward_has(problem, BACKWARD_PADDING) ? call->buffer[BACKWARD_B_LENGTHS] : 0;
    g->slopes = backward_has(problem, BACKWARD_ALIBI) ? call->buffer[BACKWARD_B_SLOPES] : 0;
    g->q_row = packed ? heads * v[DIM] : v[DIM];
    g->k_row = packed ? v[HEADS] * v[DIM] : v[DIM];
    g->q_head = packed ? v[DIM] : v[QUERIES] * v[DIM];
    g->k_head = packed ? v[DIM] : v[KEYS] * v[DIM];
    g->rows = rows_of(problem);
    g->lse_row = packed ? (int)heads : 1;
    g->lse_head = packed ? 1 : (int)v[QUERIES];
    g->key_tiles = packed ? (int)(backward_all_rows(problem, true) / KEPT + v[BATCH]) : 0;
}

static struct backward_arguments arguments_of(const struct zoo_call *call)
{
    const int64_t *v = call->problem->value;
    double scale = backward_scale(call->problem);
    struct backward_window window = backward_window(call->problem);
    struct zoo_dropout dropout = zoo_dropout_of((double)zoo_as_float(v[BACKWARD_P_DROPOUT]));
    struct zoo_weight_stream stream =
        zoo_weight_stream((uint64_t)v[BACKWARD_P_SEED], (uint64_t)v[BACKWARD_P_OFFSET]);
    struct backward_arguments g = {
        .q = call->buffer[BACKWARD_B_Q],
        .k = call->buffer[BACKWARD_B_K],
        .v = call->buffer[BACKWARD_B_V],
        .o = call->buffer[BACKWARD_B_O],
        .grad = call->buffer[BACKWARD_B_GRAD],
        .lse = call->buffer[BACKWARD_B_LSE],
        .dq = call->buffer[BACKWARD_B_DQ],
        .dk = call->buffer[BACKWARD_B_DK],
        .dv = call->buffer[BACKWARD_B_DV],
        .workspace = call->workspace,
        .batch = (int)v[BATCH],
        .heads = (int)v[HEADS],
        .group = (int)v[GROUP],
        .queries = (int)v[QUERIES],
        .keys = (int)v[KEYS],
        .dim = (int)v[DIM],
        .causal = (int)v[MASK],
        .padded = (int)padded_of(call->problem),
        .scale = (float)scale,
        .scale2 = (float)(scale * 1.4426950408889634),
        .left = (int)window.left,
        .right = (int)window.right,
        .softcap = zoo_as_float(v[BACKWARD_P_SOFTCAP]),
        .dropped = (int)dropout.threshold,
        .kept = dropout.scale,
        .low = dropout.threshold ? (long long)stream.low : 0,
        .high = dropout.threshold ? (long long)stream.high : 0,
    };
    add_ragged(call, &g);
    return g;
}

static size_t workspace_tiles(const struct zoo_call *call)
{
    return (size_t)rows_of(call->problem) * 8;
}
/* Besides, dQ in f32. */
static size_t workspace_one_pass(const struct zoo_call *call)
{
    return workspace_tiles(call) + (size_t)(rows_of(call->problem) * call->problem->value[DIM]) * 4;
}
static size_t workspace_naive(const struct zoo_call *call)
{
    const int64_t *v = call->problem->value;
    return workspace_tiles(call) + (size_t)(q_heads(call->problem) * v[QUERIES] * v[KEYS]) * 8;
}

static CUresult launch_kernel(struct zoo_call *call, const char *name, const char *end,
                              struct zoo_grid grid, struct backward_arguments *g)
{
    char kernel[48];
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "%s_%s%s", name, type_names[call->problem->value[TYPE]], end);
    return ZOO_LAUNCH(call, kernel, grid, g);
}
static CUresult launch_prepare(struct zoo_call *call, struct backward_arguments *g)
{
    struct zoo_grid grid = {.x = (unsigned)g->padded / 8,
                            .y = (unsigned)q_heads(call->problem),
                            .z = 1,
                            .threads = 256};
    return launch_kernel(call, "prepare", "", grid, g);
}

static CUresult launch_naive(struct zoo_call *call)
{
    const int64_t *v = call->problem->value;
    struct backward_arguments g = arguments_of(call);
    unsigned across = zoo_ceil_div(v[KEYS], 16), down = zoo_ceil_div(v[QUERIES], 16);
    unsigned columns = zoo_ceil_div(v[DIM], 16), heads = (unsigned)q_heads(call->problem);
    struct zoo_grid pairs = {across, down, heads, .threads = 16, .ty = 16};
    struct zoo_grid queries = {columns, down, heads, .threads = 16, .ty = 16};
    struct zoo_grid keys = {columns, across, heads / (unsigned)v[GROUP], .threads = 16, .ty = 16};
    struct zoo_grid rows = {zoo_ceil_div(v[QUERIES], 8), heads, 1, .threads = 256};
    CUresult status = launch_kernel(call, "prepare", "", rows, &g);
    if (status == CUDA_SUCCESS)
        status = launch_kernel(call, "scores", "", pairs, &g);
    if (status == CUDA_SUCCESS)
        status = launch_kernel(call, "of_queries", "", queries, &g);
    if (status == CUDA_SUCCESS)
        status = launch_kernel(call, "of_keys", "", keys, &g);
    return status;
}

static CUresult launch_mma(struct zoo_call *call)
{
    enum { ROWS = 64, TILES = 6 };
    const int64_t *v = call->problem->value;
    struct backward_arguments g = arguments_of(call);
    char end[16];
    snprintf(end, sizeof end, "_%d", (int)v[DIM]);
    struct zoo_grid keys = {(unsigned)(v[BATCH] * v[HEADS]), zoo_ceil_div(v[KEYS], ROWS), 1,
                            .threads = 128,
                            .shared = TILES * ROWS * zoo_ceil_div(v[DIM], 64) * 128};
    struct zoo_grid queries = keys;
    queries.x = (unsigned)q_heads(call->problem);
    queries.y = zoo_ceil_div(v[QUERIES], ROWS);
    CUresult status = launch_prepare(call, &g);
    if (status == CUDA_SUCCESS)
        status = launch_kernel(call, "of_keys", end, keys, &g);
    if (status == CUDA_SUCCESS)
        status = launch_kernel(call, "of_queries", end, queries, &g);
    return status;
}

/* A tensor [heads][rows][dim] in boxes of 64 rows and 64 columns, swizzled. */
static CUresult make_map(struct zoo_call *call, CUtensorMap *map, CUdeviceptr at, int64_t heads,
                         int64_t rows)
{
    const struct lk_driver *cuda = call->device->cuda;
    cuuint64_t dim = (cuuint64_t)call->problem->value[DIM];
    cuuint64_t size[3] = {dim, (cuuint64_t)rows, (cuuint64_t)heads};
    cuuint64_t pitch[2] = {dim * 2, dim * 2 * (cuuint64_t)rows};
    cuuint32_t box[3] = {64, 64, 1}, each[3] = {1, 1, 1};
    if (!cuda->cuTensorMapEncodeTiled) { /* drivers before 12.0 */
        call->error = "the driver has no cuTensorMapEncodeTiled";
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return cuda->cuTensorMapEncodeTiled(
        map,
        call->problem->value[TYPE] == 0 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                        : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        3, (void *)(uintptr_t)at, size, pitch, box, each, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static CUresult make_maps(struct zoo_call *call, struct backward_arguments *g)
{
    const int64_t *v = call->problem->value;
    int64_t heads = q_heads(call->problem), kv_heads = v[BATCH] * v[HEADS];
    CUresult status = make_map(call, &g->q_map, g->q, heads, v[QUERIES]);
    if (status == CUDA_SUCCESS)
        status = make_map(call, &g->grad_map, g->grad, heads, v[QUERIES]);
    if (status == CUDA_SUCCESS)
        status = make_map(call, &g->k_map, g->k, kv_heads, v[KEYS]);
    if (status == CUDA_SUCCESS)
        status = make_map(call, &g->v_map, g->v, kv_heads, v[KEYS]);
    return status;
}

static CUresult launch_tiles(struct zoo_call *call, unsigned stages)
{
    const int64_t *v = call->problem->value;
    struct backward_arguments g = arguments_of(call);
    int64_t heads = q_heads(call->problem), kv_heads = v[BATCH] * v[HEADS];
    unsigned shared = (2 * KEPT + 2 * 64 * stages) * (unsigned)v[DIM] * 2 + 512 * stages + 64;
    char end[16];
    if (heads == 0)
        return CUDA_SUCCESS;
    CUresult status = make_maps(call, &g);
    if (status == CUDA_SUCCESS)
        status = launch_prepare(call, &g);
    snprintf(end, sizeof end, "_%d", (int)v[DIM]);
    struct zoo_grid grid = {(unsigned)kv_heads, zoo_ceil_div(v[KEYS], KEPT), 1, .threads = 384,
                            .shared = shared};
    if (status == CUDA_SUCCESS)
        status = launch_kernel(call, "of_keys", end, grid, &g);
    grid.x = (unsigned)heads;
    grid.y = zoo_ceil_div(v[QUERIES], KEPT);
    if (status == CUDA_SUCCESS)
        status = launch_kernel(call, "of_queries", end, grid, &g);
    return status;
}

static CUresult launch_wgmma(struct zoo_call *call)
{
    return launch_tiles(call, 2);
}
static CUresult launch_overlapped(struct zoo_call *call)
{
    return launch_tiles(call, 3);
}

/* Of shared memory, K and V are kept, some tiles of Q and dO pass by, with the log-sum-exp and
 * delta of their rows, and two of dS; each warp has 4 KB of dQ on its way to memory. */
static unsigned shared_of_one_pass(unsigned dim)
{
    unsigned rows = 8192 / dim, stages = dim == 64 ? 2 : 3;
    unsigned passing = stages * (rows * (4 * dim + 8) + 16) + 8, sequence = 40;
    return 4 * KEPT * dim + zoo_ceil_div(passing, 1024) * 1024 + 4 * KEPT * rows + 8 * 4096 + 32 +
           sequence;
}
/* The same three passes for one_pass and ragged; `heads` of the workspace, so many `blocks`. */
static CUresult launch_passes(struct zoo_call *call, struct backward_arguments *g,
                              const char *kernel, unsigned heads, unsigned blocks)
{
    unsigned dim = (unsigned)call->problem->value[DIM];
    struct zoo_grid first = {(unsigned)g->padded * dim / 2048, heads, 1, .threads = 256};
    struct zoo_grid grid = {blocks, 1, 1, .threads = 384, .shared = shared_of_one_pass(dim)};
    struct zoo_grid last = {(unsigned)g->padded / 64, heads, 1, .threads = 128};
    char end[16];
    snprintf(end, sizeof end, "_%u", dim);
    CUresult status = launch_kernel(call, "prepare", end, first, g);
    if (status == CUDA_SUCCESS)
        status = launch_kernel(call, kernel, end, grid, g);
    if (status == CUDA_SUCCESS)
        status = launch_kernel(call, "round", end, last, g);
    return status;
}
static CUresult launch_one_pass(struct zoo_call *call)
{
    const int64_t *v = call->problem->value;
    struct backward_arguments g = arguments_of(call);
    unsigned heads = (unsigned)q_heads(call->problem);
    unsigned blocks = (unsigned)(v[BATCH] * v[HEADS]) * zoo_ceil_div(v[KEYS], KEPT);
    if (heads == 0)
        return CUDA_SUCCESS;
    CUresult status = make_maps(call, &g);
    return status == CUDA_SUCCESS ? launch_passes(call, &g, "one_pass", heads, blocks) : status;
}

static CUresult make_ragged_maps(struct zoo_call *call, struct backward_arguments *g)
{
    const struct lk_driver *cuda = call->device->cuda;
    const int64_t *v = call->problem->value;
    enum attention_number number = v[TYPE] == 0 ? ATTENTION_BF16 : ATTENTION_F16;
    struct attention_ragged q = {g->q, v[DIM], v[HEADS] * v[GROUP], g->q_row, g->q_head};
    struct attention_ragged k = {g->k, v[DIM], v[HEADS], g->k_row, g->k_head};
    struct attention_ragged grad = q, value = k;
    grad.at = g->grad;
    value.at = g->v;
    CUresult status = attention_ragged_map(cuda, number, &g->q_map, q, 64);
    if (status == CUDA_SUCCESS)
        status = attention_ragged_map(cuda, number, &g->grad_map, grad, 64);
    if (status == CUDA_SUCCESS)
        status = attention_ragged_map(cuda, number, &g->k_map, k, 64);
    if (status == CUDA_SUCCESS)
        status = attention_ragged_map(cuda, number, &g->v_map, value, 64);
    return status;
}
static CUresult launch_ragged(struct zoo_call *call)
{
    const int64_t *v = call->problem->value;
    struct backward_arguments g = arguments_of(call);
    unsigned heads = (unsigned)(g.rows / g.padded);
    unsigned blocks = (unsigned)(g.q_begin ? v[HEADS] * g.key_tiles
                                           : v[BATCH] * v[HEADS] * zoo_ceil_div(v[KEYS], KEPT));
    if (v[BATCH] == 0)
        return CUDA_SUCCESS;
    CUresult status = make_ragged_maps(call, &g);
    const char *kernel = g.slopes || g.dropped ? "bent" : "ragged";
    return status == CUDA_SUCCESS ? launch_passes(call, &g, kernel, heads, blocks) : status;
}

/* Packed sequences have no padding. */
static bool makes_sense(const struct zoo_problem *problem)
{
    return !(backward_is_packed(problem) && backward_has(problem, BACKWARD_PADDING));
}
/* Blocks along y and z. */
static bool takes_naive(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return makes_sense(problem) && q_heads(problem) < 1 << 16 && v[QUERIES] <= 1 << 19 &&
           v[KEYS] <= 1 << 19;
}
bool backward_is_plain(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return !v[BACKWARD_P_WINDOW] && !v[BACKWARD_P_LAYOUT] && !v[BACKWARD_P_ALSO] &&
           zoo_as_float(v[BACKWARD_P_SOFTCAP]) <= 0 && zoo_as_float(v[BACKWARD_P_DROPOUT]) <= 0;
}
static bool takes_mma(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return backward_is_plain(problem) && (v[DIM] == 64 || v[DIM] == 96 || v[DIM] == 128) &&
           v[TYPE] != F32 && q_heads(problem) < 1 << 16 && v[QUERIES] < 1 << 21 &&
           v[KEYS] < 1 << 21;
}
/* A tensor map has no sizes of 0. */
static bool fits_hopper(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return (v[DIM] == 64 || v[DIM] == 128) && v[TYPE] != F32 && v[QUERIES] > 0 && v[KEYS] > 0 &&
           q_heads(problem) < 1 << 16;
}
static bool takes_wgmma(const struct zoo_problem *problem)
{
    return backward_is_plain(problem) && fits_hopper(problem);
}
/* TMA counts rows over all heads and sequences. */
static bool takes_ragged(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value, most = 1 << 30;
    int64_t heads = backward_is_packed(problem) ? 1 : v[HEADS] * v[GROUP];
    return makes_sense(problem) && fits_hopper(problem) &&
           zoo_as_float(v[BACKWARD_P_SOFTCAP]) <= 0 &&
           heads * backward_all_rows(problem, false) < most &&
           heads * backward_all_rows(problem, true) < most;
}

const struct zoo_variant backward_variants[] = {
    {"naive", "matrices of weights and of gradients of scores in memory", launch_naive,
     workspace_naive, takes_naive, .traits = ZOO_DETERMINISTIC},
    {"mma_sync", "tiles made anew on tensor cores; dK and dV, then dQ in registers", launch_mma,
     workspace_tiles, takes_mma, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"wgmma", "TMA brings tiles, warpgroups multiply", launch_wgmma, workspace_tiles, takes_wgmma,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"overlapped", "the next tile's products asked for before these are done", launch_overlapped,
     workspace_tiles, takes_wgmma, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"turns", "warpgroups take turns at asking for products", launch_overlapped, workspace_tiles,
     takes_wgmma, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    /* Of two that take a problem, the last is taken. */
    {"ragged", "one_pass for packed sequences, padding, windows, ALiBi and dropout", launch_ragged,
     workspace_one_pass, takes_ragged, .traits = ZOO_ALIGNED},
    {"one_pass", "five products; TMA adds up dQ in f32", launch_one_pass, workspace_one_pass,
     takes_wgmma, .traits = ZOO_ALIGNED},
    {0}};
