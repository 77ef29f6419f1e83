/*
 * plan.c: which kernel makes a product of 8-bit matrices, and how it is launched; see plan.h.
 */
#include "plan.h"

#include <stdio.h>

enum { BK = 128, ALIGN = 16, BOX = 64 * 128, MOST_TILES = 1 << 22, TILE_ROWS = 128 };
enum { MOST_SKINNY_ROWS = 64, MOST_GRID = 65535 /* in y and z */ };

/* The widths of tiles.h. What 128 of k of a tile costs an H200, about in cycles: without promotion,
 * with it, and with scales of blocks. */
static const struct width {
    int columns, stages, block_stages, cluster; /* block_stages: with scales of blocks */
    int fast_cycles, promoted_cycles, block_cycles;
} widths[] = {{256, 4, 4, 2, 1030, 1190, 1304},
              {192, 4, 4, 2, 778, 790, 880},
              {128, 6, 5, 2, 530, 540, 590},
              {64, 8, 7, 1, 300, 400, 500}};
enum { WIDTHS = sizeof widths / sizeof *widths, TILE_CYCLES = 1000, COLUMN_CYCLES = 11 };

static const char *const number_names[] = {"e4m3", "e4m3_e5m2", "e5m2_e4m3", "s8"};

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Scales ----------------------------------------------------------------------------------------*/

int64_t scaled_count_a(enum scaled_scaling scaling, int64_t m, int64_t k)
{
    return scaling == SCALE_TENSORS ? 1 : scaling == SCALE_LINES ? m : m * ceil_div(k, SCALE_BLOCK);
}

int64_t scaled_count_b(enum scaled_scaling scaling, int64_t n, int64_t k)
{
    return scaling == SCALE_TENSORS ? 1
           : scaling == SCALE_LINES ? n
                                    : ceil_div(n, SCALE_BLOCK) * ceil_div(k, SCALE_BLOCK);
}

int64_t scaled_columns_of_d(const struct scaled_request *r)
{
    return r->product.activation == GEMM_GATE ? r->product.n / 2 : r->product.n;
}

/* In the kernel of the product, whose tiles have 128 columns or more. */
static bool quantises_inside(const struct scaled_request *r)
{
    return r->quantised == SCALE_BLOCKS && r->product.activation != GEMM_GATE;
}

static bool quantises_apart(const struct scaled_request *r)
{
    return r->quantised != SCALE_TENSORS && !quantises_inside(r);
}

size_t scaled_workspace(const struct scaled_request *r)
{
    return quantises_apart(r)
               ? (size_t)(r->product.batch * r->product.m * scaled_columns_of_d(r)) * sizeof(float)
               : 0;
}

/* Choosing --------------------------------------------------------------------------------------*/

static int64_t clusters_of(const struct gemm_request *r, const struct width *width)
{
    return ceil_div(r->m, TILE_ROWS * width->cluster) * ceil_div(r->n, width->columns) * r->batch;
}

/* In cycles; a tile's sums are stored when its products are done. */
static double cost_of(const struct scaled_request *r, const struct width *width, int sms)
{
    bool exact = r->fast || r->number == SCALED_S8;
    int cycles = r->scaling == SCALE_BLOCKS ? width->block_cycles
                 : exact                    ? width->fast_cycles
                                            : width->promoted_cycles;
    return (double)ceil_div(clusters_of(&r->product, width), sms / width->cluster) *
           ((double)ceil_div(r->product.k, BK) * cycles + TILE_CYCLES +
            COLUMN_CYCLES * width->columns);
}

static bool has_width(const struct scaled_request *r, const struct width *width)
{
    return !quantises_inside(r) || width->columns % SCALE_BLOCK == 0;
}

static const struct width *best_width(const struct scaled_request *r, int sms)
{
    const struct width *best = &widths[0];
    for (int i = 0; i < WIDTHS; i++)
        if (has_width(r, &widths[i]) && widths[i].columns == r->product.choice.width)
            return &widths[i];
    for (int i = 0; i < WIDTHS; i++)
        if (has_width(r, &widths[i]) && cost_of(r, &widths[i], sms) < cost_of(r, best, sms))
            best = &widths[i];
    return best;
}

static bool lines_fit(CUdeviceptr at, int64_t pitch, int64_t lines, int64_t stride, int64_t batch)
{
    return at % ALIGN == 0 && (lines == 1 || pitch % ALIGN == 0) &&
           (batch == 1 || stride % ALIGN == 0) && pitch < (int64_t)1 << 39 &&
           stride < (int64_t)1 << 39;
}

/* Lines along k that begin at multiples of 16 bytes. */
static bool is_wide(const struct gemm_request *r)
{
    return !r->a_by_columns && r->b_by_columns &&
           lines_fit(r->a, r->a_pitch, r->m, r->a_stride, r->batch) &&
           lines_fit(r->b, r->b_pitch, r->n, r->b_stride, r->batch);
}

bool scaled_plan_fits_tma(const struct scaled_request *r)
{
    return clusters_of(&r->product, &widths[WIDTHS - 1]) < MOST_TILES && r->product.k > 0 &&
           is_wide(&r->product);
}

enum scaled_kind scaled_plan_kind(const struct scaled_request *r)
{
    if (!scaled_plan_fits_tma(r))
        return SCALED_MMA_SYNC;
    if (r->product.m <= MOST_SKINNY_ROWS && r->product.batch <= MOST_GRID)
        return SCALED_SKINNY;
    return r->scaling == SCALE_BLOCKS && r->number != SCALED_E4M3 ? SCALED_MMA_SYNC : SCALED_TILES;
}

/* Tensor maps -----------------------------------------------------------------------------------*/

/* A matrix of the batch by lines of elements of `bytes` bytes. */
struct lines {
    CUdeviceptr at;
    CUtensorMapDataType type;
    int bytes;
    int64_t along, lines, pitch, stride;
};

static CUresult make_map(const struct lk_driver *cuda, CUtensorMap *map, struct lines x,
                         const struct gemm_request *r, int box_along, int box_lines)
{
    /* The driver checks steps that are never taken, too: they must be multiples of 16 bytes. */
    int64_t line = x.lines == 1 ? (x.along + ALIGN - 1) / ALIGN * ALIGN : x.pitch;
    bool many = r->batch > 1 && x.stride != 0;
    cuuint64_t size[3] = {(cuuint64_t)x.along, (cuuint64_t)x.lines,
                          many ? (cuuint64_t)r->batch : 1};
    cuuint64_t steps[2] = {(cuuint64_t)(line * x.bytes),
                           (cuuint64_t)((many ? x.stride : line * x.lines) * x.bytes)};
    cuuint32_t box[3] = {(cuuint32_t)box_along, (cuuint32_t)box_lines, 1}, one[3] = {1, 1, 1};
    if (!cuda->cuTensorMapEncodeTiled) /* drivers before 12.0 */
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuda->cuTensorMapEncodeTiled(
        map, x.type, 3, (void *)(uintptr_t)x.at, size, steps, box, one,
        CU_TENSOR_MAP_INTERLEAVE_NONE,
        box_along * x.bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B,
        /* As in gemm_fused: with few rows the L2 fetches lines of boxes, not pairs of them. */
        r->m <= 64 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* Of A and B, in boxes of so many lines. */
static CUresult map_factors(const struct lk_driver *cuda, const struct gemm_request *r,
                            struct scaled_arguments *g, int a_lines, int b_lines)
{
    const CUtensorMapDataType byte = CU_TENSOR_MAP_DATA_TYPE_UINT8;
    struct lines a = {r->a, byte, 1, r->k, r->m, r->a_pitch, r->a_stride};
    struct lines b = {r->b, byte, 1, r->k, r->n, r->b_pitch, r->b_stride};
    CUresult status = make_map(cuda, &g->a, a, r, BK, a_lines);
    return status == CUDA_SUCCESS ? make_map(cuda, &g->b, b, r, BK, b_lines) : status;
}

static CUresult map_d(const struct lk_driver *cuda, const struct scaled_request *request,
                      struct scaled_arguments *g)
{
    const struct gemm_request *r = &request->product;
    bool is_byte = request->stored == STORE_E4M3;
    struct lines d = {r->d,
                      is_byte ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_UINT16,
                      is_byte ? 1 : 2,
                      r->n,
                      r->m,
                      r->d_pitch,
                      r->d_stride};
    return make_map(cuda, &g->d, d, r, 64, 64);
}

/* Plans -----------------------------------------------------------------------------------------*/

/* Does the kernel's D take pieces of so many bytes, which begin at multiples of that? */
static bool takes_pieces(const struct scaled_arguments *g, int64_t piece)
{
    static const int bytes[] = {
        [STORE_BF16] = 2, [STORE_F16] = 2, [STORE_F32] = 4, [STORE_E4M3] = 1};
    int64_t each = bytes[g->stored];
    return g->activation != GEMM_GATE && g->n * each % piece == 0 && g->out % (size_t)piece == 0 &&
           g->out_row * each % piece == 0 && (g->batch == 1 || g->out_stride * each % piece == 0);
}

/* Of a kernel's name: is D the product with its scales and no more? */
static const char *plain_or_not(const struct scaled_arguments *g)
{
    return g->has_epilogue || g->quantises || g->stores_directly ? "" : "_plain";
}

/* What lies in f32 in the workspace is stored by the kernel as its D. */
static void fill_arguments(const struct scaled_request *request, struct scaled_arguments *g)
{
    const struct gemm_request *r = &request->product;
    bool apart = quantises_apart(request);
    int64_t columns = scaled_columns_of_d(request);
    *g = (struct scaled_arguments){
        .m = (int)r->m,
        .n = (int)r->n,
        .k = (int)r->k,
        .batch = (int)r->batch,
        .scaling = (int)request->scaling,
        .stored = apart ? STORE_F32 : (int)request->stored,
        .added = request->stored == STORE_E4M3 ? STORE_BF16 : (int)request->stored,
        .fast = request->fast,
        .quantises = quantises_inside(request),
        .has_epilogue = r->c || r->bias || r->activation != GEMM_NONE,
        .activation = (int)r->activation,
        .bias_down = r->bias_down,
        .a_stays = r->a_stride == 0,
        .b_stays = r->b_stride == 0,
        .group = 8,
        .alpha = r->alpha,
        .beta = r->beta,
        .a_scale = request->a_scale,
        .b_scale = request->b_scale,
        .d_scale = request->d_scale,
        .scale_out = request->scale_out,
        .c = r->c,
        .bias = r->bias,
        .out = apart ? request->workspace : r->d,
        .a_scale_stride = r->a_stride == 0 ? 0 : scaled_count_a(request->scaling, r->m, r->k),
        .b_scale_stride = r->b_stride == 0 ? 0 : scaled_count_b(request->scaling, r->n, r->k),
        .out_row = apart ? columns : r->d_pitch,
        .out_stride = apart ? r->m * columns : r->d_stride,
        .c_row = r->c_pitch,
        .c_stride = r->c_stride,
        .a_data = r->a,
        .b_data = r->b,
        .a_row = r->a_by_columns ? 1 : r->a_pitch,
        .a_column = r->a_by_columns ? r->a_pitch : 1,
        .a_stride = r->a_stride,
        .b_row = r->b_by_columns ? 1 : r->b_pitch,
        .b_column = r->b_by_columns ? r->b_pitch : 1,
        .b_stride = r->b_stride,
    };
}

static CUresult plan_tiles(const struct scaled_request *request, const struct lk_driver *cuda,
                           int sms, struct scaled_plan *plan)
{
    const struct gemm_request *r = &request->product;
    const struct width *w = best_width(request, sms);
    struct scaled_arguments *g = &plan->arguments;
    int64_t clusters = clusters_of(r, w), most = sms / w->cluster;
    bool by_blocks = request->scaling == SCALE_BLOCKS;
    const char *kind = by_blocks                                         ? "_blocks"
                       : request->fast && request->number == SCALED_E4M3 ? "_fast"
                                                                         : "";
    int stages = by_blocks ? w->block_stages : w->stages;
    /* As tiles.h has it in struct stages: tiles, boxes on their way out, scales; then barriers. */
    int scales_bytes =
        by_blocks ? stages * (TILE_ROWS + 4) * 4 + 8 : (TILE_ROWS + 4) * 4 + 2 * w->columns * 4;
    int boxes = 2 * (w->columns == 192 ? 3 : 2);
    int bytes = stages * (TILE_ROWS + w->columns) * BK + boxes * BOX + scales_bytes;
    /* TMA writes pieces of 16 bytes, beyond n if need be. f32 leaves in full sectors anyway. */
    g->stores_directly = g->stored == STORE_F32 || !takes_pieces(g, ALIGN);
    int64_t of_matrix = clusters / r->batch;
    g->per_matrix = 1.0F / (float)of_matrix;
    g->per_band = 1.0F / (float)(g->group * ceil_div(r->n, w->columns));
    plan->grid = (struct zoo_grid){
        .x = (unsigned)((clusters < most ? clusters : most) * w->cluster),
        .threads = 384,
        .shared = (unsigned)(bytes + 16 * stages),
        .cluster = (unsigned)w->cluster,
        .overlaps = true,
    };
    snprintf(plan->variant, sizeof plan->variant, "tiles_%s%s", number_names[request->number],
             kind);
    snprintf(plan->kernel, sizeof plan->kernel, "tiles_%d%s", w->columns, plain_or_not(g));
    CUresult status = map_factors(cuda, r, g, TILE_ROWS, w->columns / w->cluster);
    if (status == CUDA_SUCCESS && !g->stores_directly)
        status = map_d(cuda, request, g);
    return status;
}

static CUresult plan_skinny(const struct scaled_request *request, const struct lk_driver *cuda,
                            int sms, struct scaled_plan *plan)
{
    const struct gemm_request *r = &request->product;
    struct gemm_slice s = gemm_slice_of(r, BK, sms);
    struct scaled_arguments *g = &plan->arguments;
    if (s.rows > MOST_SKINNY_ROWS)
        s.rows = MOST_SKINNY_ROWS;
    if (g->quantises && s.consumers < 2) {
        s.consumers = 2; /* 128 columns */
        s.stages = 6;
    }
    g->stages = s.stages;
    g->parts = s.parts;
    g->stores_directly = !takes_pieces(g, g->stored == STORE_F32    ? 16
                                          : g->stored == STORE_E4M3 ? 4
                                                                    : 8);
    int a_bytes = (s.rows * BK + 1023) / 1024 * 1024;
    int tiles = s.stages * (s.consumers * BOX + a_bytes);
    int sums = s.rows * (64 * s.consumers + 4) * 4;
    plan->grid = (struct zoo_grid){
        .x = (unsigned)(ceil_div(r->n, 64 * s.consumers) * s.parts),
        .y = (unsigned)ceil_div(r->m, s.rows),
        .z = (unsigned)r->batch,
        .threads = (unsigned)(128 * (s.consumers + 1)),
        /* Barriers and scales follow what is larger. */
        .shared = (unsigned)((tiles > sums ? tiles : sums) + s.stages * (16 + (s.rows + 4) * 4)),
        .cluster = (unsigned)s.parts,
        .overlaps = true,
    };
    snprintf(plan->variant, sizeof plan->variant, "skinny_%s", number_names[request->number]);
    snprintf(plan->kernel, sizeof plan->kernel, "skinny_%d%s", s.rows, plain_or_not(g));
    return map_factors(cuda, r, g, s.rows, 64);
}

/* A block for each tile; where there are too many matrices for a grid, for several of them. */
static struct zoo_grid grid_of_tiles(const struct gemm_request *r, int side)
{
    return (struct zoo_grid){.x = (unsigned)(ceil_div(r->m, side) * ceil_div(r->n, side)),
                             .y = (unsigned)(r->batch < MOST_GRID ? r->batch : MOST_GRID),
                             .threads = 256};
}

static void plan_mma_sync(const struct scaled_request *request, struct scaled_plan *plan)
{
    const int stages = request->stages ? request->stages : 3;
    plan->grid = grid_of_tiles(&request->product, 128);
    plan->grid.shared = (unsigned)(stages * 2 * 128 * BK);
    snprintf(plan->variant, sizeof plan->variant, "mma_sync");
    snprintf(plan->kernel, sizeof plan->kernel, "mma_%s_%s",
             is_wide(&request->product) ? "wide" : "any", number_names[request->number]);
}

static void plan_general(const struct scaled_request *request, struct scaled_plan *plan)
{
    plan->grid = grid_of_tiles(&request->product, 64);
    snprintf(plan->variant, sizeof plan->variant, "general");
    snprintf(plan->kernel, sizeof plan->kernel, "general_%s", number_names[request->number]);
}

static void plan_quantise(const struct scaled_request *request, struct scaled_plan *plan)
{
    const struct gemm_request *r = &request->product;
    plan->quantises_apart = true;
    plan->quantise = (struct quantise_arguments){
        .from = request->workspace,
        .out = r->d,
        .scale_out = request->scale_out,
        .out_row = r->d_pitch,
        .out_stride = r->d_stride,
        .m = (int)r->m,
        .n = (int)scaled_columns_of_d(request),
        .batch = (int)r->batch,
        .by_blocks = request->quantised == SCALE_BLOCKS,
    };
    plan->quantise_grid = (struct zoo_grid){
        .x = (unsigned)r->m,
        .y = (unsigned)(r->batch < MOST_GRID ? r->batch : MOST_GRID),
        .threads = 256,
    };
}

CUresult scaled_plan_make(const struct scaled_request *request, enum scaled_kind kind,
                          const struct lk_driver *cuda, int sms, struct scaled_plan *plan)
{
    *plan = (struct scaled_plan){.kind = kind};
    fill_arguments(request, &plan->arguments);
    if (quantises_apart(request))
        plan_quantise(request, plan);
    switch (kind) {
    case SCALED_TILES:
        return plan_tiles(request, cuda, sms, plan);
    case SCALED_SKINNY:
        return plan_skinny(request, cuda, sms, plan);
    case SCALED_MMA_SYNC:
        plan_mma_sync(request, plan);
        return CUDA_SUCCESS;
    case SCALED_GENERAL:
        plan_general(request, plan);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult scaled_plan_launch(const struct scaled_plan *plan, struct zoo_call *call)
{
    CUresult status = ZOO_LAUNCH(call, plan->kernel, plan->grid, (void *)&plan->arguments);
    if (status != CUDA_SUCCESS || !plan->quantises_apart)
        return status;
    return ZOO_LAUNCH(call, "quantise", plan->quantise_grid, (void *)&plan->quantise);
}
