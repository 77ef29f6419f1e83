/*
 * plan.c: which kernel makes a product, and how it is launched; see plan.h. The costs below rank
 * shapes of tiles; they were fitted to times of an H200 (docs/performance.md) and are counted in
 * the time in which an SM makes one column of a tile of 128 rows, for one step of k.
 */
#include "plan.h"

#include <stdio.h>
#include <string.h>

enum { BK = 64, ALIGN = 16, BOX = 64 * 128, MOST_PARTS = 8, MOST_TILES = 1 << 22 };

/* The widths of tiles.h. */
static const struct width {
    int columns, stages, cluster;
    bool few; /* also where A lies by columns */
} widths[] = {
    {256, 4, 2, true}, {224, 4, 2, false}, {192, 4, 2, false}, {128, 6, 2, true}, {64, 8, 1, false},
};
enum { WIDTHS = sizeof widths / sizeof *widths, TILE_ROWS = 128, TILE_OVERHEAD = 24 };

static const char *const number_names[] = {"f32", "f16", "bf16", "tf32"};

static int64_t bytes_of(const struct gemm_request *r)
{
    return r->number == GEMM_NUMBER_F16 || r->number == GEMM_NUMBER_BF16 ? 2 : 4;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

void gemm_request_turn(struct gemm_request *r)
{
    struct gemm_request t = *r;
    r->m = t.n;
    r->n = t.m;
    r->a = t.b;
    r->b = t.a;
    r->a_pitch = t.b_pitch;
    r->b_pitch = t.a_pitch;
    r->a_stride = t.b_stride;
    r->b_stride = t.a_stride;
    r->a_by_columns = !t.b_by_columns;
    r->b_by_columns = !t.a_by_columns;
    r->bias_down = !t.bias_down;
}

/* Tiles -----------------------------------------------------------------------------------------*/

static bool has_width(const struct gemm_request *r, const struct width *width)
{
    return width->few || !r->a_by_columns;
}

static int64_t clusters_of(const struct gemm_request *r, const struct width *width)
{
    return ceil_div(r->m, TILE_ROWS * width->cluster) * ceil_div(r->n, width->columns) * r->batch;
}

/* Of a step of k. */
static double cost_of_tiles(const struct gemm_request *r, const struct width *width, int sms)
{
    return (double)ceil_div(clusters_of(r, width), sms / width->cluster) *
           (width->columns + TILE_OVERHEAD);
}

static const struct width *best_width(const struct gemm_request *r, int sms)
{
    const struct width *best = NULL;
    for (int i = 0; i < WIDTHS; i++)
        if (has_width(r, &widths[i]) && widths[i].columns == r->choice.width)
            return &widths[i];
    for (int i = 0; i < WIDTHS; i++)
        if (has_width(r, &widths[i]) &&
            (!best || cost_of_tiles(r, &widths[i], sms) < cost_of_tiles(r, best, sms)))
            best = &widths[i];
    return best;
}

/* Skinny products -------------------------------------------------------------------------------*/

static int64_t smallest(int64_t a, int64_t b, int64_t c)
{
    int64_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* 80 to 128 KB under way in an SM; with more, memory was no faster. */
static int stages_of(int consumers, int rows, bool two_blocks)
{
    if (two_blocks)
        return consumers == 1 ? 5 : 3;
    return consumers == 1 ? (rows > 32 ? 8 : 10) : consumers == 2 ? 6 : 4;
}

/* Few rows: B is read once, by as many SMs as possible: the narrowest tiles that are all under way
 * at once, of which several blocks share k where there is room for them. In 16 bits an SM has one
 * block, in 8 bits nearly two (not all clusters would find room): a step of k there waits for the
 * sums of the one before. */
static struct gemm_slice slice_of_few_rows(const struct gemm_request *r, int step_k, int sms)
{
    struct gemm_slice s = {.rows = 8, .consumers = 1, .parts = 1};
    bool two_blocks = step_k > BK;
    int64_t places = two_blocks ? sms * 7 / 4 : sms, steps = ceil_div(r->k, step_k);
    while (s.rows < r->m)
        s.rows *= 2;
    while (s.consumers < 4 && ceil_div(r->n, 64 * s.consumers) * r->batch > places)
        s.consumers *= two_blocks ? 4 : 2;
    int64_t tiles = ceil_div(r->n, 64 * s.consumers) * r->batch;
    int64_t parts = smallest(places / tiles, steps / 8, MOST_PARTS);
    if (parts > 1)
        s.parts = (int)parts;
    s.stages = stages_of(s.consumers, s.rows, two_blocks);
    return s;
}

/* Small ones: latency is what counts. More blocks share k, as long as there are SMs for them and
 * each has some steps. */
static struct gemm_slice slice_of_small(const struct gemm_request *r, int step_k, int sms)
{
    struct gemm_slice s = {.rows = 64, .consumers = 1, .stages = 8, .parts = 1};
    if (ceil_div(r->m, 64) * ceil_div(r->n, 64) * r->batch <= 16)
        s.rows = 16;
    int64_t blocks = ceil_div(r->m, s.rows) * ceil_div(r->n, 64) * r->batch;
    int64_t steps = ceil_div(r->k, step_k);
    while (s.parts < MOST_PARTS && blocks * s.parts * 2 <= sms && steps >= (int64_t)16 * s.parts)
        s.parts *= 2;
    return s;
}

static bool is_power_of_two(int value, int least, int most)
{
    return value >= least && value <= most && (value & (value - 1)) == 0;
}

struct gemm_slice gemm_slice_of(const struct gemm_request *r, int step_k, int sms)
{
    const struct gemm_choice *choice = &r->choice;
    struct gemm_slice s =
        r->m <= 64 ? slice_of_few_rows(r, step_k, sms) : slice_of_small(r, step_k, sms);
    if (is_power_of_two(choice->rows, 8, 128))
        s.rows = choice->rows;
    if (is_power_of_two(choice->consumers, 1, 4))
        s.consumers = choice->consumers;
    if (s.rows == choice->rows || s.consumers == choice->consumers)
        s.stages = stages_of(s.consumers, s.rows, false);
    if (choice->parts >= 1 && choice->parts <= MOST_PARTS)
        s.parts = choice->parts;
    if (s.parts > ceil_div(r->k, step_k))
        s.parts = (int)ceil_div(r->k, step_k);
    return s;
}

/* Of a step of k, as above. */
static double cost_of_small(const struct gemm_request *r, int sms)
{
    struct gemm_slice s = slice_of_small(r, BK, sms);
    int64_t steps = ceil_div(r->k, BK);
    int64_t blocks = ceil_div(r->m, s.rows) * ceil_div(r->n, 64) * r->batch * s.parts;
    double each = 50 * (double)ceil_div(blocks, sms);
    double reduce = s.parts > 1 ? 8 : 0;
    return each * ((double)ceil_div(steps, s.parts) + reduce) / (double)(steps ? steps : 1);
}

/* Choosing --------------------------------------------------------------------------------------*/

static bool lines_fit(const struct gemm_request *r, CUdeviceptr at, int64_t pitch, int64_t lines,
                      int64_t stride)
{
    int64_t each = bytes_of(r);
    return at % ALIGN == 0 && (lines == 1 || pitch * each % ALIGN == 0) &&
           (r->batch == 1 || stride * each % ALIGN == 0) && pitch < (int64_t)1 << 37 &&
           stride < (int64_t)1 << 37;
}

bool gemm_plan_fits_tma(const struct gemm_request *r)
{
    return clusters_of(r, &widths[WIDTHS - 1]) < MOST_TILES && r->number != GEMM_NUMBER_F32 &&
           r->k > 0 && lines_fit(r, r->a, r->a_pitch, r->a_by_columns ? r->k : r->m, r->a_stride) &&
           lines_fit(r, r->b, r->b_pitch, r->b_by_columns ? r->n : r->k, r->b_stride) &&
           !(r->number == GEMM_NUMBER_TF32 && r->a_by_columns);
}

enum gemm_kind gemm_plan_kind_without_tma(const struct gemm_request *r)
{
    return r->number == GEMM_NUMBER_TF32 ? GEMM_MMA_SYNC : GEMM_GENERAL;
}

enum gemm_kind gemm_plan_kind(const struct gemm_request *r, int sms)
{
    if (!gemm_plan_fits_tma(r))
        return gemm_plan_kind_without_tma(r);
    if (r->number == GEMM_NUMBER_TF32 || r->a_by_columns || r->batch > 65535 || r->m > 65535 * 8)
        return GEMM_TILES;
    if (r->m <= 64)
        return GEMM_SKINNY;
    return cost_of_small(r, sms) < cost_of_tiles(r, best_width(r, sms), sms) ? GEMM_SKINNY
                                                                             : GEMM_TILES;
}

/* Tensor maps -----------------------------------------------------------------------------------*/

/* A matrix by lines; boxes of box_along elements of box_lines lines. */
static CUresult make_map(const struct lk_driver *cuda, const struct gemm_request *r,
                         CUtensorMap *map, CUdeviceptr at, int64_t along, int64_t lines,
                         int64_t pitch, int64_t stride, int box_along, int box_lines)
{
    /* The driver checks steps that are never taken, too: they must be multiples of 16 bytes. */
    int64_t line = lines == 1 ? (along + 7) / 8 * 8 : pitch, each = bytes_of(r);
    bool many = r->batch > 1 && stride != 0;
    cuuint64_t size[3] = {(cuuint64_t)along, (cuuint64_t)lines, many ? (cuuint64_t)r->batch : 1};
    cuuint64_t steps[2] = {(cuuint64_t)(line * each),
                           (cuuint64_t)((many ? stride : line * lines) * each)};
    cuuint32_t box[3] = {(cuuint32_t)box_along, (cuuint32_t)box_lines, 1}, one[3] = {1, 1, 1};
    /* What the L2 fetches at once. With few rows 128 bytes are some 5 % faster: the next ones may
     * belong to another SM. */
    CUtensorMapL2promotion promotion =
        r->m <= 64 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
    if (!cuda->cuTensorMapEncodeTiled) /* drivers before 12.0 */
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuda->cuTensorMapEncodeTiled(
        map,
        r->number == GEMM_NUMBER_BF16   ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
        : r->number == GEMM_NUMBER_TF32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
                                        : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        3, (void *)(uintptr_t)at, size, steps, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* A's boxes have box_rows rows where it lies by rows. */
static CUresult map_a(const struct lk_driver *cuda, const struct gemm_request *r, CUtensorMap *map,
                      int box_rows)
{
    if (r->a_by_columns)
        return make_map(cuda, r, map, r->a, r->m, r->k, r->a_pitch, r->a_stride, 64, BK);
    return make_map(cuda, r, map, r->a, r->k, r->m, r->a_pitch, r->a_stride, BK, box_rows);
}

/* Boxes of B: `columns` of C and box_k of k. */
static CUresult map_b(const struct lk_driver *cuda, const struct gemm_request *r, CUtensorMap *map,
                      int columns, int box_k)
{
    if (r->b_by_columns)
        return make_map(cuda, r, map, r->b, r->k, r->n, r->b_pitch, r->b_stride, box_k, columns);
    return make_map(cuda, r, map, r->b, r->n, r->k, r->b_pitch, r->b_stride, columns, box_k);
}

static CUresult map_d(const struct lk_driver *cuda, const struct gemm_request *r, CUtensorMap *map,
                      int columns)
{
    return make_map(cuda, r, map, r->d, r->n, r->m, r->d_pitch, r->d_stride, columns, 64);
}

/* Plans -----------------------------------------------------------------------------------------*/

/* Does D take whole pieces of so many elements? TMA writes pieces of 16 bytes, beyond n if need be.
 */
static bool takes_pieces(const struct gemm_request *r, int64_t elements)
{
    return r->activation != GEMM_GATE && r->n % elements == 0 &&
           r->d % (size_t)(2 * elements) == 0 && r->d_pitch % elements == 0 &&
           (r->batch == 1 || r->d_stride % elements == 0);
}

/* Does C come in whole pieces of 16 bytes? */
static bool comes_in_pieces(const struct gemm_request *r)
{
    return r->c && r->c % 16 == 0 && r->c_pitch % 8 == 0 && r->n % 8 == 0 &&
           (r->batch == 1 || r->c_stride % 8 == 0);
}

/* May two neighbours of a gate's D be stored at once? */
static bool takes_pairs(const struct gemm_request *r)
{
    return r->n % 4 == 0 && r->d % 4 == 0 && r->d_pitch % 2 == 0 &&
           (r->batch == 1 || r->d_stride % 2 == 0);
}

/* Is D the product and no more? */
static bool is_plain(const struct gemm_request *r, const struct gemm_arguments *g)
{
    return r->alpha == 1 && !r->c && !r->bias && r->activation == GEMM_NONE && !g->stores_directly;
}

static void fill_arguments(const struct gemm_request *r, struct gemm_arguments *g)
{
    *g = (struct gemm_arguments){
        .a_data = r->a,
        .b_data = r->b,
        .c = r->c,
        .bias = r->bias,
        .out = r->d,
        .a_row = r->a_by_columns ? 1 : r->a_pitch,
        .a_column = r->a_by_columns ? r->a_pitch : 1,
        .a_stride = r->a_stride,
        .b_row = r->b_by_columns ? 1 : r->b_pitch,
        .b_column = r->b_by_columns ? r->b_pitch : 1,
        .b_stride = r->b_stride,
        .c_row = r->c_pitch,
        .c_stride = r->c_stride,
        .out_row = r->d_pitch,
        .out_stride = r->d_stride,
        .alpha = r->alpha,
        .beta = r->beta,
        .m = (int)r->m,
        .n = (int)r->n,
        .k = (int)r->k,
        .batch = (int)r->batch,
        .activation = (int)r->activation,
        .bias_down = r->bias_down,
        .a_stays = r->a_stride == 0,
        .b_stays = r->b_stride == 0,
        .out_pairs = takes_pairs(r),
        .group = r->choice.group > 0 ? r->choice.group : 8,
    };
}

static CUresult plan_tiles(const struct gemm_request *r, const struct lk_driver *cuda, int sms,
                           struct gemm_plan *plan)
{
    const struct width *w = best_width(r, sms);
    struct gemm_arguments *g = &plan->arguments;
    int boxes = (w->columns + 63) / 64, rest = w->columns % 64;
    /* The blocks of a cluster share B's loads, as tiles.h divides them. */
    int box_k = w->columns % (64 * w->cluster) == 0 ? BK : BK / w->cluster;
    int columns = r->b_by_columns ? w->columns / w->cluster : 64;
    g->stores_directly = !takes_pieces(r, 8);
    g->c_pieces = comes_in_pieces(r) && !g->stores_directly;
    CUresult status = map_a(cuda, r, &g->a, TILE_ROWS);
    if (status == CUDA_SUCCESS)
        status = map_b(cuda, r, &g->b, columns, r->b_by_columns ? BK : box_k);
    if (status == CUDA_SUCCESS && rest && !r->b_by_columns)
        status = map_b(cuda, r, &g->b_rest, rest, box_k);
    if (status == CUDA_SUCCESS && !g->stores_directly)
        status = map_d(cuda, r, &g->d, 64);
    if (status == CUDA_SUCCESS && !g->stores_directly && rest)
        status = map_d(cuda, r, &g->d_rest, rest);
    int64_t clusters = clusters_of(r, w), most = sms / w->cluster;
    unsigned bytes = (unsigned)(w->stages * (TILE_ROWS * BK * 2 + boxes * BOX) + 4 * BOX);
    int64_t in_matrix = clusters / r->batch;
    g->per_matrix = 1.0F / (float)in_matrix;
    g->per_band = 1.0F / (float)(g->group * ceil_div(r->n, w->columns));
    plan->grid = (struct zoo_grid){
        .x = (unsigned)((clusters < most ? clusters : most) * w->cluster),
        .threads = 384,
        .shared = bytes + 1024, /* for the barriers */
        .cluster = (unsigned)w->cluster,
        .overlaps = true,
    };
    snprintf(plan->variant, sizeof plan->variant, "tiles_%s_%c%c", number_names[r->number],
             r->a_by_columns ? 'c' : 'r', r->b_by_columns ? 'c' : 'r');
    snprintf(plan->kernel, sizeof plan->kernel, "tiles_%d%s", w->columns,
             is_plain(r, g) ? "_plain" : "");
    return status;
}

static CUresult plan_skinny(const struct gemm_request *r, const struct lk_driver *cuda, int sms,
                            struct gemm_plan *plan)
{
    struct gemm_slice s = gemm_slice_of(r, BK, sms);
    struct gemm_arguments *g = &plan->arguments;
    g->stages = s.stages;
    g->parts = s.parts;
    g->stores_directly = !takes_pieces(r, 4);
    CUresult status = map_a(cuda, r, &g->a, s.rows);
    if (status == CUDA_SUCCESS)
        status = map_b(cuda, r, &g->b, 64, BK);
    int a_bytes = (s.rows * BK * 2 + 1023) / 1024 * 1024;
    int tiles = s.stages * (s.consumers * BOX + a_bytes);
    int sums = s.rows * (64 * s.consumers + 4) * 4;
    plan->grid = (struct zoo_grid){
        .x = (unsigned)(ceil_div(r->n, 64 * s.consumers) * s.parts),
        .y = (unsigned)ceil_div(r->m, s.rows),
        .z = (unsigned)r->batch,
        .threads = (unsigned)(128 * (s.consumers + 1)),
        .shared = (unsigned)((tiles > sums ? tiles : sums) + 16 * s.stages),
        .cluster = (unsigned)s.parts,
        .overlaps = true,
    };
    snprintf(plan->variant, sizeof plan->variant, "skinny_%s_%c", number_names[r->number],
             r->b_by_columns ? 'c' : 'r');
    snprintf(plan->kernel, sizeof plan->kernel, "skinny_%d%s", s.rows,
             is_plain(r, g) ? "_plain" : "");
    return status;
}

/* As tiles_tf32.h has them. */
static CUresult plan_tiles_tf32(const struct gemm_request *r, const struct lk_driver *cuda, int sms,
                                struct gemm_plan *plan)
{
    enum { ROWS = 256, COLUMNS = 128, DEEP = 32, STAGES = 4, CLUSTER = 2 };
    struct gemm_arguments *g = &plan->arguments;
    int64_t across = ceil_div(r->n, COLUMNS * CLUSTER);
    int64_t of_matrix = ceil_div(r->m, ROWS) * across;
    int64_t pairs = of_matrix * r->batch, most = sms / CLUSTER;
    g->per_matrix = 1.0F / (float)of_matrix;
    g->per_band = 1.0F / (float)(g->group * across);
    /* Two neighbours at once. */
    g->stores_directly = r->activation == GEMM_GATE || r->n % 2 != 0 || r->d % 8 != 0 ||
                         r->d_pitch % 2 != 0 || (r->batch > 1 && r->d_stride % 2 != 0);
    plan->grid = (struct zoo_grid){
        .x = (unsigned)((pairs < most ? pairs : most) * CLUSTER),
        .threads = 384,
        .shared = STAGES * (ROWS + COLUMNS) * DEEP * 4 + 1024, /* for the barriers */
        .cluster = CLUSTER,
        .overlaps = true,
    };
    snprintf(plan->variant, sizeof plan->variant, "tiles_tf32_r%c", r->b_by_columns ? 'c' : 'r');
    snprintf(plan->kernel, sizeof plan->kernel, "tiles_tf32%s", is_plain(r, g) ? "_plain" : "");
    CUresult status =
        make_map(cuda, r, &g->a, r->a, r->k, r->m, r->a_pitch, r->a_stride, DEEP, ROWS / CLUSTER);
    return status == CUDA_SUCCESS ? map_b(cuda, r, &g->b, 32, DEEP) : status;
}

static struct zoo_grid grid_of_tiles(const struct gemm_request *r, int side, unsigned shared)
{
    return (struct zoo_grid){
        .x = (unsigned)(ceil_div(r->m, side) * ceil_div(r->n, side)),
        .y = (unsigned)(r->batch < 65535 ? r->batch : 65535), /* a grid has no more */
        .threads = 256,
        .shared = shared,
    };
}

static CUresult plan_mma_sync(const struct gemm_request *r, struct gemm_plan *plan)
{
    plan->grid = grid_of_tiles(r, 128, 3 * 2 * 128 * 32 * 4);
    snprintf(plan->variant, sizeof plan->variant, "mma_sync_tf32");
    snprintf(plan->kernel, sizeof plan->kernel, "mma_sync_tf32");
    return CUDA_SUCCESS;
}

static CUresult plan_general(const struct gemm_request *r, struct gemm_plan *plan)
{
    plan->grid = grid_of_tiles(r, 64, 0);
    snprintf(plan->variant, sizeof plan->variant, "general");
    snprintf(plan->kernel, sizeof plan->kernel, "general_%s", number_names[r->number]);
    return CUDA_SUCCESS;
}

CUresult gemm_plan_make(const struct gemm_request *request, enum gemm_kind kind,
                        const struct lk_driver *cuda, int sms, struct gemm_plan *plan)
{
    *plan = (struct gemm_plan){.kind = kind};
    fill_arguments(request, &plan->arguments);
    switch (kind) {
    case GEMM_TILES:
        return request->number == GEMM_NUMBER_TF32 ? plan_tiles_tf32(request, cuda, sms, plan)
                                                   : plan_tiles(request, cuda, sms, plan);
    case GEMM_SKINNY:
        return plan_skinny(request, cuda, sms, plan);
    case GEMM_MMA_SYNC:
        return plan_mma_sync(request, plan);
    case GEMM_GENERAL:
        return plan_general(request, plan);
    }
    return CUDA_ERROR_INVALID_VALUE;
}
