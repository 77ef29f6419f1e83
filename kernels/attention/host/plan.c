/*
 * plan.c: how an attention is launched; see plan.h.
 */
#include "plan.h"

#include "zoo/philox.h"

#include <math.h>
#include <stdio.h>

static const char *const numbers[] = {"bf16", "f16", "f32", "e4m3"};

/* What a kind takes -----------------------------------------------------------------------------*/

static bool steps_fit(struct attention_steps step, CUdeviceptr at, int multiple)
{
    return at % 16 == 0 && (step.row | step.head | step.batch) % multiple == 0;
}

/* 16 bytes at a time. */
static bool is_aligned(const struct attention_request *r)
{
    int multiple = r->number == ATTENTION_E4M3 ? 16 : 8;
    return steps_fit(r->q_step, r->q, multiple) && steps_fit(r->k_step, r->k, multiple) &&
           steps_fit(r->v_step, r->v, multiple) && steps_fit(r->o_step, r->o, 8);
}

static bool has_tile(int64_t dim)
{
    return dim == 64 || dim == 96 || dim == 128 || dim == 256;
}

/* Tiles of 128 queries of a head: as many as packed sequences can have. fp8 has fewer, of 192. */
static int64_t tiles_of(const struct attention_request *r)
{
    return r->packed ? r->all_queries / 128 + r->batch : r->batch * ((r->queries + 127) / 128);
}

/* Blocks along y and z. */
static bool fits_grid(const struct attention_request *r, enum attention_kind kind)
{
    int64_t heads = r->batch * r->heads * r->group, most = 65535;
    switch (kind) {
    case ATTENTION_NAIVE:
        return heads <= most && r->queries <= most * 16;
    case ATTENTION_ONLINE:
        return heads <= most;
    case ATTENTION_MMA:
    case ATTENTION_WGMMA:
        return r->queries <= most * 128;
    default:
        return tiles_of(r) * r->heads * r->group < (int64_t)1 << 31;
    }
}

/* A tensor map has no steps of 0, and none of 2^40 bytes. */
static bool fits_map(struct attention_steps step, bool packed)
{
    const int64_t most = (int64_t)1 << 34;
    return step.row > 0 && step.row < most && step.head > 0 && (packed || step.batch > 0);
}
/* With padding, a sequence's rows are counted from the first sequence on, by steps of a row. */
static bool fits_padding(const struct attention_request *r, struct attention_steps step)
{
    return !r->padded ||
           (step.batch % step.row == 0 && r->batch * (step.batch / step.row) < (int64_t)1 << 30);
}
static bool fits_maps(const struct attention_request *r)
{
    if (!fits_map(r->q_step, r->packed) || !fits_map(r->k_step, r->packed) ||
        !fits_map(r->v_step, r->packed))
        return false;
    return fits_padding(r, r->k_step) && fits_padding(r, r->v_step);
}
static bool has_16_bits(const struct attention_request *r)
{
    return r->number == ATTENTION_BF16 || r->number == ATTENTION_F16;
}

/* Of a row of V, transposed: whole tiles of keys for each sequence; kernels/attention/values.h. */
static int64_t columns_of(const struct attention_request *r)
{
    const int64_t keys = 128;
    return keys * (r->packed ? r->all_keys / keys + r->batch : r->batch * ((r->keys + 127) / keys));
}

bool attention_takes(const struct attention_request *r, enum attention_kind kind)
{
    if (!fits_grid(r, kind))
        return false;
    switch (kind) {
    case ATTENTION_NAIVE:
        return true;
    case ATTENTION_ONLINE:
        return has_tile(r->dim);
    case ATTENTION_MMA:
        return has_tile(r->dim) && has_16_bits(r) && is_aligned(r);
    case ATTENTION_FP8:
        return r->number == ATTENTION_E4M3 && r->dim != 256 && has_tile(r->dim) &&
               r->softcap == 0 && !r->leaning && r->dropout <= 0 && is_aligned(r) && r->keys > 0 &&
               fits_maps(r) && columns_of(r) < (int64_t)1 << 31;
    default:
        return has_tile(r->dim) && has_16_bits(r) && is_aligned(r) && r->keys > 0 && fits_maps(r);
    }
}

/* kernels/attention/order.h: of packed sequences, in overlapped and fp8. */
static size_t list_bytes(const struct attention_request *r)
{
    return r->packed ? ((size_t)tiles_of(r) + 1) * 32 : 0;
}

/* Shares ----------------------------------------------------------------------------------------*/

enum { FP8_QUERIES = 192, FP8_KEYS = 128, HOPPER_QUERIES = 128 };

/* By a softcap, ALiBi or dropout. */
static bool is_bent(const struct attention_request *r)
{
    return r->softcap != 0 || r->leaning || r->dropout > 0;
}

/* Longer tiles have less to do around them, but more of them lies beyond a mask. */
static int keys_of_tile(const struct attention_request *r)
{
    bool limited = r->left < r->keys || r->right < r->keys;
    int64_t seen = r->left + r->right < r->keys ? r->left + r->right : r->keys;
    if (r->number == ATTENTION_E4M3)
        return FP8_KEYS;
    if (r->dim == 256)
        return 80;
    if (r->dim == 96 || is_bent(r) || seen <= (limited ? 8000 : 128))
        return 128;
    return 176;
}

/* Blocks of overlapped and fp8 share the tiles of the last round (kernels/attention/shares.h), if
 * all of them see all keys, and many: what the workspace must hold is of as many blocks as the
 * largest GPU of this kind has SMs. */
enum { MOST_BLOCKS = 144 };

static bool may_share(const struct attention_request *r)
{
    bool is_faster = r->number == ATTENTION_E4M3 ? r->dim != 96 : r->dim == 128;
    return is_faster && !r->packed && !r->padded && !is_bent(r) && r->left >= r->keys &&
           r->right >= r->keys && r->keys >= 2048;
}
static int queries_of_tile(const struct attention_request *r)
{
    return r->number == ATTENTION_E4M3 ? FP8_QUERIES : HOPPER_QUERIES;
}
/* Of sequences that are not packed. */
static int64_t whole_tiles(const struct attention_request *r)
{
    return r->batch * r->heads * r->group * zoo_ceil_div(r->queries, queries_of_tile(r));
}
/* A round less by some tiles of keys must save more than adding up costs. */
static bool shares_tiles(const struct attention_request *r, int sms)
{
    int64_t left = whole_tiles(r) % sms, keys = zoo_ceil_div(r->keys, keys_of_tile(r));
    return r->workspace && may_share(r) && sms <= MOST_BLOCKS && left > 0 &&
           (sms - left) * keys >= 5 * sms;
}
/* Of each thread: its sums, and two rows' largest scores and sums of weights. */
static size_t parts_bytes(const struct attention_request *r)
{
    size_t threads = 2 * (size_t)queries_of_tile(r), each = (size_t)r->dim / 2 + 4;
    return may_share(r) ? 2 * MOST_BLOCKS * threads * each * sizeof(float) : 0;
}
static size_t values_bytes(const struct attention_request *r)
{
    return r->number == ATTENTION_E4M3 ? (size_t)(r->heads * r->dim) * (size_t)columns_of(r) : 0;
}

size_t attention_workspace(const struct attention_request *r, enum attention_kind kind)
{
    switch (kind) {
    case ATTENTION_NAIVE:
        return (size_t)(r->batch * r->heads * r->group) * (size_t)r->queries * (size_t)r->keys * 4;
    case ATTENTION_OVERLAPPED:
    case ATTENTION_FP8:
        return list_bytes(r) + values_bytes(r) + parts_bytes(r);
    default:
        return 0;
    }
}

/* Arguments -------------------------------------------------------------------------------------*/

static struct attention_arguments arguments_of(const struct attention_request *r)
{
    const double log2_e = 1.4426950408889634;
    double cap = r->softcap;
    int64_t heads = r->heads * r->group;
    struct zoo_dropout dropout = zoo_dropout_of(r->dropout);
    struct zoo_weight_stream stream = zoo_weight_stream(r->seed, r->offset);
    return (struct attention_arguments){
        .q = r->q,
        .k = r->k,
        .v = r->v,
        .o = r->o,
        .lse = r->lse,
        .workspace = r->workspace,
        .values = r->workspace + list_bytes(r),
        .q_begin = r->packed ? r->q_begin : 0,
        .k_begin = r->packed ? r->k_begin : 0,
        .lengths = r->lengths,
        .slopes = r->slopes,
        .is_ragged = r->packed || r->padded,
        .k_apart = r->padded ? (int)(r->k_step.batch / r->k_step.row) : 0,
        .v_apart = r->padded ? (int)(r->v_step.batch / r->v_step.row) : 0,
        .dropped = (int)dropout.threshold,
        .kept = dropout.scale,
        .low = r->dropout > 0 ? (long long)stream.low : 0,
        .high = r->dropout > 0 ? (long long)stream.high : 0,
        .q_scale = r->q_scale,
        .k_scale = r->k_scale,
        .v_scale = r->v_scale,
        .scale_head = (int)r->scale_head,
        .scale_batch = (int)r->scale_batch,
        .v_columns = (int)columns_of(r),
        .q_row = r->q_step.row,
        .q_head = r->q_step.head,
        .q_batch = r->q_step.batch,
        .k_row = r->k_step.row,
        .k_head = r->k_step.head,
        .k_batch = r->k_step.batch,
        .v_row = r->v_step.row,
        .v_head = r->v_step.head,
        .v_batch = r->v_step.batch,
        .o_row = r->o_step.row,
        .o_head = r->o_step.head,
        .o_batch = r->o_step.batch,
        .batch = (int)r->batch,
        .heads = (int)r->heads,
        .group = (int)r->group,
        .queries = (int)r->queries,
        .keys = (int)r->keys,
        .dim = (int)r->dim,
        .left = (int)r->left,
        .right = (int)r->right,
        .lse_row = r->packed ? (int)heads : 1,
        .lse_head = r->packed ? 1 : (int)r->queries,
        .room = (int)tiles_of(r),
        .scale = (float)(r->scale * log2_e),
        .softcap = (float)(cap / r->scale),
        .inner = cap != 0 ? (float)(r->scale / cap) : 0,
    };
}

struct tensor {
    CUdeviceptr at;
    struct attention_steps step;
    int64_t columns, rows, heads, batch;
};

static CUresult encode(const struct lk_driver *cuda, enum attention_number number, CUtensorMap *map,
                       CUdeviceptr at, cuuint32_t rank, const cuuint64_t *size,
                       const cuuint64_t *pitch, int64_t box_rows)
{
    static const CUtensorMapDataType types[] = {
        [ATTENTION_BF16] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        [ATTENTION_F16] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        [ATTENTION_E4M3] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
    };
    cuuint32_t line = number == ATTENTION_E4M3 ? 128 : 64;
    cuuint32_t box[5] = {size[0] < line ? (cuuint32_t)size[0] : line, (cuuint32_t)box_rows, 1, 1,
                         1};
    cuuint32_t each[5] = {1, 1, 1, 1, 1};
    if (!cuda->cuTensorMapEncodeTiled) /* drivers before 12.0 */
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuda->cuTensorMapEncodeTiled(
        map, types[number], rank, (void *)(uintptr_t)at, size, pitch, box, each,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* A tensor [batch][heads][rows][columns] in boxes of `box_rows` lines of 128 bytes, swizzled. */
static CUresult make_map(const struct lk_driver *cuda, const struct attention_request *r,
                         CUtensorMap *map, struct tensor x, int64_t box_rows)
{
    cuuint64_t each = r->number == ATTENTION_E4M3 ? 1 : 2;
    cuuint64_t size[4] = {(cuuint64_t)x.columns, (cuuint64_t)x.rows, (cuuint64_t)x.heads,
                          (cuuint64_t)x.batch};
    cuuint64_t pitch[3] = {(cuuint64_t)x.step.row * each, (cuuint64_t)x.step.head * each,
                           (cuuint64_t)x.step.batch * each};
    return encode(cuda, r->number, map, x.at, 4, size, pitch, box_rows);
}

CUresult attention_ragged_map(const struct lk_driver *cuda, enum attention_number number,
                              CUtensorMap *map, struct attention_ragged tensor, int64_t box_rows)
{
    const cuuint64_t ragged = 1 << 30, most = 0x7fff0000;
    cuuint64_t each = number == ATTENTION_E4M3 ? 1 : 2, row = (cuuint64_t)tensor.row * each;
    cuuint64_t size[5] = {(cuuint64_t)tensor.dim, ragged, (cuuint64_t)tensor.heads, most, most};
    cuuint64_t pitch[4] = {row, (cuuint64_t)tensor.head * each, row,
                           ((cuuint64_t)1 << 35) - row}; /* times 2^30 it is 2^65 - 2^30 rows */
    return encode(cuda, number, map, tensor.at, 5, size, pitch, box_rows);
}
/* Of packed sequences, and where there is padding. */
static CUresult make_ragged_map(const struct lk_driver *cuda, const struct attention_request *r,
                                CUtensorMap *map, struct tensor x, int64_t box_rows)
{
    struct attention_ragged tensor = {x.at, x.columns, x.heads, x.step.row, x.step.head};
    return attention_ragged_map(cuda, r->number, map, tensor, box_rows);
}

/* Of Q, K and V; of V transposed, for FP8. */
static CUresult make_maps(const struct lk_driver *cuda, const struct attention_request *r,
                          enum attention_kind kind, int queries, int keys,
                          struct attention_arguments *g)
{
    bool is_ragged = r->packed || r->padded;
    CUresult (*make)(const struct lk_driver *, const struct attention_request *, CUtensorMap *,
                     struct tensor, int64_t) = is_ragged ? make_ragged_map : make_map;
    int64_t heads = r->heads * r->group, columns = columns_of(r);
    struct tensor q = {r->q, r->q_step, r->dim, r->queries, heads, r->batch};
    struct tensor k = {r->k, r->k_step, r->dim, r->keys, r->heads, r->batch};
    struct tensor v = {r->v, r->v_step, r->dim, r->keys, r->heads, r->batch};
    struct attention_steps turned = {columns, columns * r->dim, columns * r->dim * r->heads};
    CUresult status = r->packed ? make_ragged_map(cuda, r, &g->q_map, q, queries)
                                : make_map(cuda, r, &g->q_map, q, queries);
    if (status == CUDA_SUCCESS)
        status = make(cuda, r, &g->k_map, k, keys);
    if (status != CUDA_SUCCESS)
        return status;
    if (kind != ATTENTION_FP8)
        return make(cuda, r, &g->v_map, v, keys);
    v = (struct tensor){g->values, turned, columns, r->dim, r->heads, 1};
    return make_map(cuda, r, &g->v_map, v, r->dim);
}

/* Launches --------------------------------------------------------------------------------------*/

static void plan_naive(const struct attention_request *r, struct attention_plan *plan)
{
    unsigned heads = (unsigned)(r->batch * r->heads * r->group),
             down = zoo_ceil_div(r->queries, 16);
    plan->launches = 3;
    snprintf(plan->launch[0].kernel, sizeof plan->launch[0].kernel, "scores_%s",
             numbers[r->number]);
    plan->launch[0].grid = (struct zoo_grid){
        .x = zoo_ceil_div(r->keys, 16), .y = down, .z = heads, .threads = 16, .ty = 16};
    snprintf(plan->launch[1].kernel, sizeof plan->launch[1].kernel, "softmax");
    plan->launch[1].grid = (struct zoo_grid){.x = (unsigned)r->queries, .y = heads, .threads = 128};
    snprintf(plan->launch[2].kernel, sizeof plan->launch[2].kernel, "product_%s",
             numbers[r->number]);
    plan->launch[2].grid = (struct zoo_grid){
        .x = zoo_ceil_div(r->dim, 16), .y = down, .z = heads, .threads = 16, .ty = 16};
}

static void plan_online(const struct attention_request *r, struct attention_plan *plan)
{
    enum { QUERIES = 64, KEYS = 32 };
    struct attention_launch *launch = &plan->launch[0];
    unsigned row = (unsigned)r->dim + 1;
    snprintf(launch->kernel, sizeof launch->kernel, "attention_%s_%d", numbers[r->number],
             (int)r->dim);
    launch->grid =
        (struct zoo_grid){.x = zoo_ceil_div(r->queries, QUERIES),
                          .y = (unsigned)(r->batch * r->heads * r->group),
                          .threads = 256,
                          .shared = 4 * ((QUERIES + 2 * KEYS) * row + QUERIES * (KEYS + 1))};
}

static const struct attention_launch order_tiles = {"order_tiles", {.x = 1, .threads = 1024}};

/* Bytes of a row in shared memory: whole lines of 64 numbers. */
static unsigned row_bytes(const struct attention_request *r)
{
    return zoo_ceil_div(r->dim, 64) * 128;
}

static void plan_mma(const struct attention_request *r, struct attention_plan *plan)
{
    enum { QUERIES = 128, KEYS = 64 };
    struct attention_launch *launch = &plan->launch[0];
    snprintf(launch->kernel, sizeof launch->kernel, "attention_%s_%d%s", numbers[r->number],
             (int)r->dim, is_bent(r) ? "_capped" : "");
    launch->grid = (struct zoo_grid){.x = (unsigned)(r->batch * r->heads * r->group),
                                     .y = zoo_ceil_div(r->queries, QUERIES),
                                     .threads = 256,
                                     .shared = (QUERIES + 2 * KEYS) * row_bytes(r)};
}

/* What blocks found of shared tiles is added up by a launch of its own, the last one. */
static void plan_merging(const struct attention_request *r, int sms, struct attention_plan *plan)
{
    struct attention_launch *launch = &plan->launch[plan->launches++];
    int64_t left = whole_tiles(r) % sms;
    plan->arguments.blocks = sms;
    plan->arguments.parts = plan->arguments.values + values_bytes(r);
    snprintf(launch->kernel, sizeof launch->kernel, "merge_parts_%s_%d", numbers[r->number],
             (int)r->dim);
    launch->grid =
        (struct zoo_grid){.x = (unsigned)(left * (queries_of_tile(r) / 64)), .threads = 128};
}

/* wgmma has a block for each tile, the others one for each SM and, of packed sequences, a list of
 * the tiles in their order. */
static CUresult plan_hopper(const struct attention_request *r, enum attention_kind kind,
                            const struct lk_driver *cuda, int sms, struct attention_plan *plan)
{
    enum { QUERIES = HOPPER_QUERIES, STAGES = 2, BARRIERS = 1024 };
    bool has_list = kind == ATTENTION_OVERLAPPED && r->packed;
    bool shares = kind == ATTENTION_OVERLAPPED && shares_tiles(r, sms);
    struct attention_launch *launch = &plan->launch[has_list];
    int64_t heads = r->heads * r->group, tiles = tiles_of(r) * heads;
    int keys = kind == ATTENTION_WGMMA ? (r->dim == 256 ? 80 : 128) : keys_of_tile(r);
    snprintf(launch->kernel, sizeof launch->kernel, "attention_%s_%d_%d%s", numbers[r->number],
             (int)r->dim, keys,
             is_bent(r) ? "_capped"
             : shares   ? "_shared"
                        : "");
    launch->grid = (struct zoo_grid){
        .x = (unsigned)(tiles < sms && !shares ? tiles : sms),
        .threads = 384,
        .shared = (unsigned)(QUERIES + 2 * STAGES * keys) * row_bytes(r) + BARRIERS};
    if (kind == ATTENTION_WGMMA) {
        launch->grid.x = (unsigned)(r->batch * heads);
        launch->grid.y = zoo_ceil_div(r->queries, QUERIES);
    }
    if (has_list) {
        plan->launch[0] = order_tiles;
        plan->launches = 2;
    }
    if (shares)
        plan_merging(r, sms, plan);
    return make_maps(cuda, r, kind, QUERIES, keys, &plan->arguments);
}

/* V is transposed before. */
static CUresult plan_fp8(const struct attention_request *r, const struct lk_driver *cuda, int sms,
                         struct attention_plan *plan)
{
    enum { STAGES = 2, WEIGHTS = FP8_QUERIES, LINE = 128, BARRIERS = 1024 };
    struct attention_launch *launch = plan->launch;
    int64_t tiles = whole_tiles(r);
    bool shares = shares_tiles(r, sms);
    if (r->packed) {
        *launch++ = order_tiles;
        tiles = tiles_of(r) * r->heads * r->group;
    }
    snprintf(launch->kernel, sizeof launch->kernel, "transpose_values_%d", (int)r->dim);
    launch++->grid = (struct zoo_grid){
        .x = (unsigned)(columns_of(r) / FP8_KEYS), .y = (unsigned)r->heads, .threads = 256};
    snprintf(launch->kernel, sizeof launch->kernel, "attention_e4m3_%d%s", (int)r->dim,
             shares ? "_shared" : "");
    launch++->grid = (struct zoo_grid){
        .x = (unsigned)(tiles < sms && !shares ? tiles : sms),
        .threads = 512,
        .shared =
            (unsigned)(FP8_QUERIES + STAGES * (FP8_KEYS + r->dim) + WEIGHTS) * LINE + BARRIERS};
    plan->launches = (unsigned)(launch - plan->launch);
    if (shares)
        plan_merging(r, sms, plan);
    return make_maps(cuda, r, ATTENTION_FP8, FP8_QUERIES, FP8_KEYS, &plan->arguments);
}

CUresult attention_plan_make(const struct attention_request *r, enum attention_kind kind,
                             const struct lk_driver *cuda, int sms, struct attention_plan *plan)
{
    *plan = (struct attention_plan){.launches = 1, .arguments = arguments_of(r)};
    switch (kind) {
    case ATTENTION_NAIVE:
        plan_naive(r, plan);
        return CUDA_SUCCESS;
    case ATTENTION_ONLINE:
        plan_online(r, plan);
        return CUDA_SUCCESS;
    case ATTENTION_MMA:
        plan_mma(r, plan);
        return CUDA_SUCCESS;
    case ATTENTION_FP8:
        return plan_fp8(r, cuda, sms, plan);
    default:
        return plan_hopper(r, kind, cuda, sms, plan);
    }
}
