/*
 * plan.c: which kernel makes a product of 8-bit matrices, and how it is launched; see plan.h.
 */
#include "plan.h"

#include <stdio.h>

enum { BK = 128, ALIGN = 16, BOX = 64 * 128, MOST_TILES = 1 << 22, TILE_ROWS = 128 };

/* The widths of tiles.h. What 128 of k of a tile costs an H200, about in cycles: without promotion,
 * with it, and with scales of blocks. */
static const struct width {
    int columns, stages, block_stages, cluster; /* block_stages: with scales of blocks */
    int fast_cycles, promoted_cycles, block_cycles;
} widths[] = {{256, 4, 4, 2, 1030, 1190, 1304},
              {192, 4, 4, 2, 778, 840, 1056},
              {128, 6, 5, 2, 530, 660, 838},
              {64, 8, 7, 1, 300, 400, 500}};
enum { WIDTHS = sizeof widths / sizeof *widths, TILE_CYCLES = 1000, COLUMN_CYCLES = 11 };

static const char *const number_names[] = {"e4m3", "e4m3_e5m2", "e5m2_e4m3", "s8"};

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Choosing --------------------------------------------------------------------------------------*/

static int64_t clusters_of(const struct scaled_request *r, const struct width *width)
{
    return ceil_div(r->m, TILE_ROWS * width->cluster) * ceil_div(r->n, width->columns);
}

/* In cycles; a tile's sums are stored when its products are done. */
static double cost_of(const struct scaled_request *r, const struct width *width, int sms)
{
    bool exact = r->fast || r->number == SCALED_S8;
    int cycles = r->scaling == SCALE_BLOCKS ? width->block_cycles
                 : exact                    ? width->fast_cycles
                                            : width->promoted_cycles;
    return (double)ceil_div(clusters_of(r, width), sms / width->cluster) *
           ((double)ceil_div(r->k, BK) * cycles + TILE_CYCLES + COLUMN_CYCLES * width->columns);
}

static const struct width *best_width(const struct scaled_request *r, int sms)
{
    const struct width *best = &widths[0];
    for (int i = 0; i < WIDTHS; i++) {
        if (widths[i].columns == r->width)
            return &widths[i];
        if (cost_of(r, &widths[i], sms) < cost_of(r, best, sms))
            best = &widths[i];
    }
    return best;
}

static bool lines_fit(CUdeviceptr at, int64_t pitch, int64_t lines)
{
    return at % ALIGN == 0 && (lines == 1 || pitch % ALIGN == 0) && pitch < (int64_t)1 << 39;
}

bool scaled_plan_fits_tma(const struct scaled_request *r)
{
    return clusters_of(r, &widths[WIDTHS - 1]) < MOST_TILES && r->k > 0 && !r->a_by_columns &&
           r->b_by_columns && lines_fit(r->a, r->a_pitch, r->m) &&
           lines_fit(r->b, r->b_pitch, r->n) &&
           !(r->scaling == SCALE_BLOCKS && r->number != SCALED_E4M3);
}

/* Tensor maps -----------------------------------------------------------------------------------*/

/* A matrix by lines of elements of `bytes` bytes; boxes of box_along elements of box_lines lines.
 */
static CUresult make_map(const struct lk_driver *cuda, CUtensorMap *map, CUdeviceptr at,
                         CUtensorMapDataType type, int bytes, int64_t along, int64_t lines,
                         int64_t pitch, int box_along, int box_lines)
{
    /* The driver checks steps that are never taken, too: they must be multiples of 16 bytes. */
    int64_t line = lines == 1 ? (along + ALIGN - 1) / ALIGN * ALIGN : pitch;
    cuuint64_t size[2] = {(cuuint64_t)along, (cuuint64_t)lines};
    cuuint64_t steps[1] = {(cuuint64_t)(line * bytes)};
    cuuint32_t box[2] = {(cuuint32_t)box_along, (cuuint32_t)box_lines}, one[2] = {1, 1};
    if (!cuda->cuTensorMapEncodeTiled) /* drivers before 12.0 */
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuda->cuTensorMapEncodeTiled(
        map, type, 2, (void *)(uintptr_t)at, size, steps, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE,
        box_along * bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static CUresult make_maps(const struct lk_driver *cuda, const struct scaled_request *r,
                          const struct width *w, struct scaled_arguments *g)
{
    const CUtensorMapDataType byte = CU_TENSOR_MAP_DATA_TYPE_UINT8;
    CUresult status = make_map(cuda, &g->a, r->a, byte, 1, r->k, r->m, r->a_pitch, BK, TILE_ROWS);
    if (status == CUDA_SUCCESS)
        status = make_map(cuda, &g->b, r->b, byte, 1, r->k, r->n, r->b_pitch, BK,
                          w->columns / w->cluster);
    if (status == CUDA_SUCCESS && !g->stores_directly)
        status = make_map(cuda, &g->d, r->d,
                          r->stored == STORE_E4M3 ? byte : CU_TENSOR_MAP_DATA_TYPE_UINT16,
                          r->stored == STORE_E4M3 ? 1 : 2, r->n, r->m, r->d_pitch, 64, 64);
    return status;
}

/* Plans -----------------------------------------------------------------------------------------*/

/* TMA writes pieces of 16 bytes, beyond n if need be. f32 leaves in full sectors anyway. */
static bool takes_pieces(const struct scaled_request *r)
{
    int64_t bytes = r->stored == STORE_E4M3 ? 1 : 2;
    return r->stored != STORE_F32 && r->n * bytes % ALIGN == 0 && r->d % ALIGN == 0 &&
           r->d_pitch * bytes % ALIGN == 0;
}

static void fill_arguments(const struct scaled_request *r, struct scaled_arguments *g)
{
    *g = (struct scaled_arguments){
        .m = (int)r->m,
        .n = (int)r->n,
        .k = (int)r->k,
        .scaling = (int)r->scaling,
        .stored = (int)r->stored,
        .fast = r->fast,
        .stores_directly = !takes_pieces(r),
        .group = 8,
        .alpha = r->alpha,
        .a_scale = r->a_scale,
        .b_scale = r->b_scale,
        .d_scale = r->d_scale,
        .out = r->d,
        .out_row = r->d_pitch,
        .a_data = r->a,
        .b_data = r->b,
        .a_row = r->a_by_columns ? 1 : r->a_pitch,
        .a_column = r->a_by_columns ? r->a_pitch : 1,
        .b_row = r->b_by_columns ? 1 : r->b_pitch,
        .b_column = r->b_by_columns ? r->b_pitch : 1,
    };
}

static CUresult plan_tiles(const struct scaled_request *r, const struct lk_driver *cuda, int sms,
                           struct scaled_plan *plan)
{
    const struct width *w = best_width(r, sms);
    int64_t clusters = clusters_of(r, w), most = sms / w->cluster;
    const char *kind = r->scaling == SCALE_BLOCKS            ? "_blocks"
                       : r->fast && r->number == SCALED_E4M3 ? "_fast"
                                                             : "";
    bool by_blocks = r->scaling == SCALE_BLOCKS;
    int stages = by_blocks ? w->block_stages : w->stages;
    /* As tiles.h has it in struct stages: tiles, boxes on their way out, scales; then barriers. */
    int scales_bytes =
        by_blocks ? stages * (TILE_ROWS + 4) * 4 + 8 : (TILE_ROWS + 4) * 4 + 2 * w->columns * 4;
    int bytes = stages * (TILE_ROWS + w->columns) * BK + 4 * BOX + scales_bytes;
    plan->arguments.per_band = 1.0F / (float)(plan->arguments.group * ceil_div(r->n, w->columns));
    plan->grid = (struct zoo_grid){
        .x = (unsigned)((clusters < most ? clusters : most) * w->cluster),
        .threads = 384,
        .shared = (unsigned)(bytes + 16 * stages),
        .cluster = (unsigned)w->cluster,
        .overlaps = true,
    };
    snprintf(plan->variant, sizeof plan->variant, "tiles_%s%s", number_names[r->number], kind);
    snprintf(plan->kernel, sizeof plan->kernel, "tiles_%d", w->columns);
    return make_maps(cuda, r, w, &plan->arguments);
}

/* Lines along k that cp.async may copy in pieces of 16 bytes. */
static bool is_wide(const struct scaled_request *r)
{
    return !r->a_by_columns && r->b_by_columns && lines_fit(r->a, r->a_pitch, r->m) &&
           lines_fit(r->b, r->b_pitch, r->n);
}

static void plan_mma_sync(const struct scaled_request *r, struct scaled_plan *plan)
{
    const int stages = r->stages ? r->stages : 3;
    plan->grid = (struct zoo_grid){
        .x = (unsigned)(ceil_div(r->m, 128) * ceil_div(r->n, 128)),
        .threads = 256,
        .shared = (unsigned)(stages * 2 * 128 * BK),
    };
    snprintf(plan->variant, sizeof plan->variant, "mma_sync");
    snprintf(plan->kernel, sizeof plan->kernel, "mma_%s_%s", is_wide(r) ? "wide" : "any",
             number_names[r->number]);
}

static void plan_general(const struct scaled_request *r, struct scaled_plan *plan)
{
    plan->grid =
        (struct zoo_grid){.x = (unsigned)(ceil_div(r->m, 64) * ceil_div(r->n, 64)), .threads = 256};
    snprintf(plan->variant, sizeof plan->variant, "general");
    snprintf(plan->kernel, sizeof plan->kernel, "general_%s", number_names[r->number]);
}

CUresult scaled_plan_make(const struct scaled_request *r, enum scaled_kind kind,
                          const struct lk_driver *cuda, int sms, struct scaled_plan *plan)
{
    *plan = (struct scaled_plan){.kind = kind};
    fill_arguments(r, &plan->arguments);
    switch (kind) {
    case SCALED_TILES:
        return plan_tiles(r, cuda, sms, plan);
    case SCALED_MMA_SYNC:
        plan_mma_sync(r, plan);
        return CUDA_SUCCESS;
    case SCALED_GENERAL:
        plan_general(r, plan);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}
