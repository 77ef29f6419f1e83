/*
 * transpose.c: the transpose family: rows and columns of a matrix change places. Nothing is
 * computed. It is easy to read a matrix along its rows or to write one along its rows; the art is
 * to do both.
 */
#include "zoo/zoo.h"

#include "peer.h"

enum { OUT_OF_PLACE, IN_PLACE };
enum { ROWS, COLS, PLACE };

static const char *const places[] = {"out", "in", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static size_t count_of(const struct zoo_problem *problem)
{
    return (size_t)problem->value[ROWS] * (size_t)problem->value[COLS];
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t count = count_of(problem);
    if (problem->value[PLACE] == IN_PLACE) {
        buffers[0] = (struct zoo_buffer){"a", ZOO_IN_OUT, ZOO_F32, count};
        return 1;
    }
    buffers[0] = (struct zoo_buffer){"in", ZOO_IN, ZOO_F32, count};
    buffers[1] = (struct zoo_buffer){"out", ZOO_OUT, ZOO_F32, count};
    return 2;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    zoo_fill(problem, 0, ZOO_F32, buffer[0], count_of(problem));
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    const float *in = buffer[0];
    double *out = expected[problem->value[PLACE] == IN_PLACE ? 0 : 1].value;
    int64_t rows = problem->value[ROWS], cols = problem->value[COLS];
#pragma omp parallel for schedule(static) if (rows * cols > 100000)
    for (int64_t col = 0; col < cols; col++)
        for (int64_t row = 0; row < rows; row++)
            out[col * rows + row] = (double)in[row * cols + col];
}

static double bytes(const struct zoo_problem *problem)
{
    return 8 * (double)count_of(problem);
}

static double flops(const struct zoo_problem *problem)
{
    (void)problem;
    return 0;
}

/* Launches --------------------------------------------------------------------------------------*/

static bool out_of_place(const struct zoo_problem *problem)
{
    return problem->value[PLACE] == OUT_OF_PLACE;
}

static bool square_in_place(const struct zoo_problem *problem)
{
    return problem->value[PLACE] == IN_PLACE && problem->value[ROWS] == problem->value[COLS];
}

/* A block for each tile. */
static CUresult launch_tiles(struct zoo_call *call, int64_t tile_rows, int64_t tile_cols,
                             int threads, int shared)
{
    int64_t rows = call->problem->value[ROWS], cols = call->problem->value[COLS];
    int64_t blocks = (rows + tile_rows - 1) / tile_rows * ((cols + tile_cols - 1) / tile_cols);
    struct zoo_grid grid = {
        .x = (unsigned)blocks, .threads = (unsigned)threads, .shared = (unsigned)shared};
    if (rows == 0 || cols == 0)
        return CUDA_SUCCESS;
    if (blocks > INT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    return ZOO_LAUNCH(call, "transpose", grid, &call->buffer[0], &call->buffer[1], &rows, &cols);
}

static CUresult launch_small_tiles(struct zoo_call *call)
{
    return launch_tiles(call, 32, 32, zoo_tunable(call, "BLOCK"), 0);
}

static CUresult launch_registers(struct zoo_call *call)
{
    int block = zoo_tunable(call, "BLOCK"), across = zoo_tunable(call, "ACROSS");
    return launch_tiles(call, 4 * (block / across), 4 * across, block, 0);
}

static CUresult launch_vectorised(struct zoo_call *call)
{
    int rows = zoo_tunable(call, "TILE_ROWS"), cols = zoo_tunable(call, "TILE_COLS");
    return launch_tiles(call, rows, cols, rows * cols / 16 / zoo_tunable(call, "UNROLL"),
                        rows * cols * 4);
}

/* Rows of both matrices begin at multiples of 16 bytes, and coordinates are ints. */
static bool fits_tma(const struct zoo_problem *problem)
{
    int64_t rows = problem->value[ROWS], cols = problem->value[COLS];
    return out_of_place(problem) && rows % 4 == 0 && cols % 4 == 0;
}

/* A matrix in boxes of so many rows of 128 bytes, swizzled. */
static CUresult make_map(struct zoo_call *call, CUtensorMap *map, CUdeviceptr at, int64_t rows,
                         int64_t cols, cuuint32_t box_rows)
{
    cuuint64_t size[2] = {(cuuint64_t)cols, (cuuint64_t)rows}, pitch[1] = {size[0] * 4};
    cuuint32_t box[2] = {32, box_rows}, step[2] = {1, 1};
    if (!call->device->cuda->cuTensorMapEncodeTiled) /* drivers before 12.0 */
        return CUDA_ERROR_NOT_SUPPORTED;
    return call->device->cuda->cuTensorMapEncodeTiled(
        map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)(uintptr_t)at, size, pitch, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static CUresult launch_tma(struct zoo_call *call)
{
    enum { BOX_ROWS = 128, TILE = 32 };
    int64_t rows = call->problem->value[ROWS], cols = call->problem->value[COLS];
    int64_t blocks = (rows + BOX_ROWS - 1) / BOX_ROWS * ((cols + TILE - 1) / TILE);
    struct zoo_grid grid = {.x = (unsigned)blocks, .threads = 256};
    CUtensorMap in, out;
    CUresult status;
    if (rows == 0 || cols == 0)
        return CUDA_SUCCESS;
    if (blocks > INT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if ((status = make_map(call, &in, call->buffer[0], rows, cols, BOX_ROWS)) != CUDA_SUCCESS ||
        (status = make_map(call, &out, call->buffer[1], cols, rows, TILE)) != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, "transpose", grid, &in, &out, &rows, &cols);
}

/* One block for each pair of tiles; in_place.cu explains how the pairs map to the grid. */
static CUresult launch_in_place(struct zoo_call *call)
{
    int tile = zoo_tunable(call, "TILE");
    int64_t n = call->problem->value[ROWS], odd = ((n + tile - 1) / tile) | 1;
    struct zoo_grid grid = {.x = (unsigned)(odd * (odd + 1) / 2),
                            .threads = (unsigned)(tile * tile / 16 / zoo_tunable(call, "UNROLL")),
                            .shared = (unsigned)(2 * tile * tile * 4)};
    if (n == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, "transpose_square", grid, &call->buffer[0], &n);
}

static const struct zoo_variant variants[] = {
    {"naive", "straight to its place, reads coalesced", launch_small_tiles, .takes = out_of_place,
     .traits = ZOO_DETERMINISTIC},
    {"naive_write", "straight to its place, writes coalesced", launch_small_tiles,
     .takes = out_of_place, .traits = ZOO_DETERMINISTIC},
    {"shared", "through a tile in shared memory, both coalesced", launch_small_tiles,
     .takes = out_of_place, .traits = ZOO_DETERMINISTIC},
    {"padded", "an extra word in each row of the tile, no bank conflicts", launch_small_tiles,
     .takes = out_of_place, .traits = ZOO_DETERMINISTIC},
    {"swizzled", "columns permuted by XOR in place of the padding", launch_small_tiles,
     .takes = out_of_place, .traits = ZOO_DETERMINISTIC},
    {"registers", "4 x 4 elements transposed in registers, whole sectors, no shared memory",
     launch_registers, .takes = out_of_place, .traits = ZOO_DETERMINISTIC},
    {"vectorised", "both: large tiles, 16-byte accesses everywhere, tiles in bands",
     launch_vectorised, .takes = out_of_place, .traits = ZOO_DETERMINISTIC},
    {"tma", "one thread asks for tiles, the TMA unit copies and swizzles them", launch_tma,
     .takes = fits_tma, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"in_place", "a tile and its mirror image change places", launch_in_place,
     .takes = square_in_place, .traits = ZOO_DETERMINISTIC},
    {0}};

/* peer_cublas.c */
int transpose_cublas_run(const struct lk_peer_call *call);
const char *transpose_cublas_version(void);

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON, .call = "x[0].view(rows, cols).t().contiguous()",
     .takes = out_of_place},
    {"cublas", ZOO_PEER_LIBRARY, .call = "cublasSgeam", .takes = out_of_place,
     .run = transpose_cublas_run, .version = transpose_cublas_version},
    {0}};

static const char *const edges[] = {"rows=0,1,3,4,31,32,33,64,65 cols=0,1,5,31,32,33,63,64,65,100",
                                    "rows=60,68,128,129,132 cols=62,127,128,192",
                                    "rows=4,100,260 cols=8,36,1028", /* by TMA */
                                    "rows=1,2,70 cols=3001",
                                    "rows=1025 cols=1,4", /* long and thin */
                                    "rows=600 cols=260 dist=ascending",
                                    "rows=577,640 cols=200 dist=special",
                                    "rows=0 cols=0 place=in",
                                    "rows=1 cols=1 place=in",
                                    "rows=31 cols=31 place=in",
                                    "rows=64 cols=64 place=in",
                                    "rows=65 cols=65 place=in",
                                    "rows=127 cols=127 place=in",
                                    "rows=128 cols=128 place=in",
                                    "rows=132 cols=132 place=in",
                                    "rows=192 cols=192 place=in",
                                    "rows=324 cols=324 place=in",
                                    "rows=450 cols=450 place=in dist=ascending",
                                    NULL};

static const char *const bench[] = {"rows=16K cols=16K",
                                    "rows=16K cols=16K place=in",
                                    "rows=8K cols=32K",
                                    "rows=64K cols=1K",
                                    "rows=10000 cols=10000",
                                    "rows=10001 cols=9999",
                                    "rows=1K cols=1K",
                                    "rows=4K cols=4K",
                                    NULL};

const struct zoo_family zoo_transpose = {
    .name = "transpose",
    .title = "rows and columns of a matrix change places",
    .problem = "out[col][row] = in[row][col] for a matrix of f32, into other memory or, where it "
               "is square, within its own.",
    .parameters = {{"rows", "of in", 0, 1 << 28, 1024, NULL},
                   {"cols", "of in", 0, 1 << 28, 1024, NULL},
                   {"place", "out: other memory; in: the same", 0, 1, 0, places},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "rows=1K cols=1K",
    ZOO_FAMILY_PARTS,
};
