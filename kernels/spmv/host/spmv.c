/*
 * spmv.c: the spmv family: y = A x with a sparse matrix in compressed rows (CSR): f32 values, i32
 * columns and row offsets. The variants go from one thread per row to equal shares of the bytes,
 * which no matrix can throw out of balance.
 */
#include "spmv.h"
#include "zoo/zoo.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static const char *const matrices[] = {"banded", "uniform", "powerlaw", NULL};
/* Those of zoo_fill with two differences: "special" has NaN and infinities in x and the values, but
 * no numbers that overflow in one order and not in another; "whole" has small integers, whose sums
 * are exact, so that one nonzero too many or too few shows in a row of any length. */
enum { WHOLE = ZOO_SPECIAL + 1 };
static const char *const distributions[] = {"uniform", "constant", "ascending", "adversarial",
                                            "special", "whole",    NULL};

/* The problem -----------------------------------------------------------------------------------*/

struct zoo_sparse spmv_matrix(const int64_t *value)
{
    int64_t rows = value[ROWS], cols = value[COLS] ? value[COLS] : rows;
    int64_t most = cols < INT32_MAX / (rows + 1) ? rows * cols : INT32_MAX;
    int64_t nonzeros = value[NONZEROS];
    if (nonzeros == 0)
        nonzeros = value[PER_ROW] < INT32_MAX / (rows + 1) ? rows * value[PER_ROW] : INT32_MAX;
    return (struct zoo_sparse){.pattern = (enum zoo_pattern)value[MATRIX],
                               .rows = rows,
                               .cols = cols,
                               .nonzeros = nonzeros < most ? nonzeros : most};
}

static struct zoo_sparse matrix_of(const struct zoo_problem *problem)
{
    struct zoo_sparse matrix = spmv_matrix(problem->value);
    matrix.seed = problem->seed;
    return matrix;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    struct zoo_sparse m = matrix_of(problem);
    buffers[OFFSETS] = (struct zoo_buffer){"offsets", ZOO_IN, ZOO_I32, (size_t)m.rows + 1};
    buffers[COLUMNS] = (struct zoo_buffer){"columns", ZOO_IN, ZOO_I32, (size_t)m.nonzeros};
    buffers[VALUES] = (struct zoo_buffer){"values", ZOO_IN, ZOO_F32, (size_t)m.nonzeros};
    buffers[X] = (struct zoo_buffer){"x", ZOO_IN, ZOO_F32, (size_t)m.cols};
    buffers[Y] = (struct zoo_buffer){"y", ZOO_OUT, ZOO_F32, (size_t)m.rows};
    return 5;
}

static void fill(const struct zoo_problem *problem, unsigned stream, float *data, size_t count)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f};
    struct zoo_problem common = *problem;
    if (problem->distribution >= ZOO_SPECIAL)
        common.distribution = ZOO_UNIFORM;
    zoo_fill(&common, stream, ZOO_F32, data, count);
    for (size_t i = 0; i < count && problem->distribution >= ZOO_SPECIAL; i++) {
        uint64_t random = zoo_random(problem->seed, stream + 1000, i);
        if (problem->distribution == WHOLE)
            data[i] = (float)(random % 17) - 8;
        else if (random % 61 == 0)
            data[i] = special[(random >> 32) % 5];
    }
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_sparse m = matrix_of(problem);
    zoo_sparse_offsets(&m, buffer[OFFSETS]);
    zoo_sparse_columns(&m, buffer[OFFSETS], buffer[COLUMNS]);
    fill(problem, 0, buffer[VALUES], (size_t)m.nonzeros);
    fill(problem, 1, buffer[X], (size_t)m.cols);
}

/* n products and n - 1 additions in any order, each rounded by at most half a unit: the sum is
 * off by no more than (n + 1) half units of the sum of magnitudes. Small integers are exact. */
static double bound_of(double magnitudes, int64_t n, bool whole)
{
    if (whole && magnitudes < 0x1p24)
        return 0;
    return 0.5 * FLT_EPSILON * (double)(n + 2) * magnitudes + (double)n * 0x1p-149;
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    const int32_t *offsets = buffer[OFFSETS], *columns = buffer[COLUMNS];
    const float *values = buffer[VALUES], *x = buffer[X];
    bool whole = problem->distribution == WHOLE;
#pragma omp parallel for schedule(dynamic, 4096) if (problem->value[ROWS] > 100000)
    for (int64_t r = 0; r < problem->value[ROWS]; r++) {
        double sum = 0, magnitudes = 0;
        for (int64_t j = offsets[r]; j < offsets[r + 1]; j++) {
            double product = (double)values[j] * (double)x[columns[j]];
            sum += product;
            magnitudes += fabs(product);
        }
        expected[Y].value[r] = sum;
        expected[Y].bound[r] = bound_of(magnitudes, offsets[r + 1] - offsets[r], whole);
    }
}

/* Each array once; of x no more than there are nonzeros. */
static double bytes(const struct zoo_problem *problem)
{
    struct zoo_sparse m = matrix_of(problem);
    int64_t of_x = m.cols < m.nonzeros ? m.cols : m.nonzeros;
    return 4.0 * ((double)m.rows + 1) + 8.0 * (double)m.nonzeros + 4.0 * (double)of_x +
           4.0 * (double)m.rows;
}

static double flops(const struct zoo_problem *problem)
{
    return 2.0 * (double)matrix_of(problem).nonzeros;
}

/* Launches --------------------------------------------------------------------------------------*/

/* A kernel that gives every row `lanes` threads. */
static CUresult launch_rows(struct zoo_call *call, const char *kernel, int lanes)
{
    int64_t rows = call->problem->value[ROWS];
    unsigned threads = (unsigned)zoo_tunable(call, "BLOCK");
    if (rows == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(
        call, kernel,
        ((struct zoo_grid){.x = zoo_ceil_div(rows * lanes, threads), .threads = threads}),
        &call->buffer[OFFSETS], &call->buffer[COLUMNS], &call->buffer[VALUES], &call->buffer[X],
        &rows, &call->buffer[Y]);
}

static CUresult launch_scalar(struct zoo_call *call)
{
    return launch_rows(call, "multiply", 1);
}

static CUresult launch_vector(struct zoo_call *call)
{
    return launch_rows(call, "multiply", 32);
}

/* Two to four nonzeros a lane in a row of the mean length. */
static CUresult launch_adaptive_vector(struct zoo_call *call)
{
    struct zoo_sparse m = matrix_of(call->problem);
    char name[24];
    int lanes = 2;
    while (lanes < 32 && lanes * 4 * m.rows <= m.nonzeros)
        lanes *= 2;
    snprintf(name, sizeof name, "multiply_%d", lanes);
    return launch_rows(call, name, lanes);
}

static CUresult launch_row_tiles(struct zoo_call *call)
{
    struct zoo_sparse m = matrix_of(call->problem);
    unsigned threads = (unsigned)zoo_tunable(call, "BLOCK");
    if (m.rows == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, "multiply",
                      ((struct zoo_grid){.x = zoo_ceil_div(m.rows, threads), .threads = threads}),
                      &call->buffer[OFFSETS], &call->buffer[COLUMNS], &call->buffer[VALUES],
                      &call->buffer[X], &m.rows, &m.nonzeros, &call->buffer[Y]);
}

/* Adds what blocks along the merge path left in the workspace. A single block leaves nothing. */
static CUresult add_carries(struct zoo_call *call, int64_t carries)
{
    int64_t rows = call->problem->value[ROWS];
    if (carries == 1)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, "add_carries",
                      ((struct zoo_grid){.x = zoo_ceil_div(carries, 256), .threads = 256}),
                      &call->workspace, &carries, &rows, &call->buffer[Y]);
}

static int64_t path_items(const struct zoo_call *call)
{
    struct zoo_sparse m = matrix_of(call->problem);
    return m.rows + m.nonzeros;
}

static unsigned merge_blocks(const struct zoo_call *call)
{
    int64_t items = (int64_t)zoo_tunable(call, "BLOCK") * zoo_tunable(call, "PER_THREAD");
    return zoo_ceil_div(path_items(call), items);
}

static CUresult launch_merge(struct zoo_call *call)
{
    struct zoo_sparse m = matrix_of(call->problem);
    struct zoo_grid grid = {.x = merge_blocks(call),
                            .threads = (unsigned)zoo_tunable(call, "BLOCK")};
    if (m.rows == 0)
        return CUDA_SUCCESS;
    CUresult status = ZOO_LAUNCH(call, "multiply", grid, &call->buffer[OFFSETS],
                                 &call->buffer[COLUMNS], &call->buffer[VALUES], &call->buffer[X],
                                 &m.rows, &m.nonzeros, &call->buffer[Y], &call->workspace);
    return status == CUDA_SUCCESS ? add_carries(call, grid.x) : status;
}

static size_t workspace_merge(const struct zoo_call *call)
{
    return 8 * (size_t)merge_blocks(call);
}

/* A tile has 8 items fewer than the block can load: its loads begin at the start of a sector. */
static unsigned path_tiles(const struct zoo_call *call)
{
    int64_t tile = (int64_t)zoo_tunable(call, "BLOCK") * zoo_tunable(call, "PER_THREAD") - 8;
    return zoo_ceil_div(path_items(call), tile);
}

/* A carry for each tile, then the first row of each and one past the last. */
static size_t workspace_path_tiles(const struct zoo_call *call)
{
    return 12 * (size_t)path_tiles(call) + 4;
}

static CUresult launch_path_tiles(struct zoo_call *call)
{
    struct zoo_sparse m = matrix_of(call->problem);
    int64_t tiles = path_tiles(call);
    CUdeviceptr first_row = call->workspace + 8 * (CUdeviceptr)tiles;
    if (m.rows == 0)
        return CUDA_SUCCESS;
    CUresult status = ZOO_LAUNCH(
        call, "find_tiles", ((struct zoo_grid){.x = zoo_ceil_div(m.rows + 1, 256), .threads = 256}),
        &call->buffer[OFFSETS], &m.rows, &tiles, &first_row);
    if (status == CUDA_SUCCESS)
        status = ZOO_LAUNCH(call, "multiply",
                            ((struct zoo_grid){.x = (unsigned)tiles,
                                               .threads = (unsigned)zoo_tunable(call, "BLOCK")}),
                            &call->buffer[OFFSETS], &call->buffer[COLUMNS], &call->buffer[VALUES],
                            &call->buffer[X], &m.rows, &m.nonzeros, &call->buffer[Y], &first_row,
                            &call->workspace);
    return status == CUDA_SUCCESS ? add_carries(call, tiles) : status;
}

static const struct zoo_variant variants[] = {
    {"scalar", "a thread for each row", launch_scalar, .traits = ZOO_DETERMINISTIC},
    {"vector", "a warp for each row: coalesced loads", launch_vector, .traits = ZOO_DETERMINISTIC},
    {"adaptive_vector", "as many lanes per row as the mean length suggests", launch_adaptive_vector,
     .traits = ZOO_DETERMINISTIC},
    {"row_tiles", "a block's rows as one stream of nonzeros, summed up in shared memory",
     launch_row_tiles, .traits = ZOO_DETERMINISTIC},
    {"merge", "equal shares of rows and nonzeros for each thread", launch_merge, workspace_merge,
     .traits = ZOO_DETERMINISTIC},
    {"path_tiles", "a block for each equal share, found by a kernel beforehand", launch_path_tiles,
     workspace_path_tiles, .traits = ZOO_DETERMINISTIC},
    {0}};

static const struct zoo_peer peers[] = {
    {"cusparse", ZOO_PEER_LIBRARY, "cusparseSpMV, CSR, default algorithm, preprocessed", NULL,
     spmv_cusparse_workspace, spmv_cusparse, spmv_cusparse_version},
    {"cusparse_alg2", ZOO_PEER_LIBRARY, "cusparseSpMV, CSR, ALG2 (deterministic), preprocessed",
     NULL, spmv_cusparse_workspace, spmv_cusparse_alg2, spmv_cusparse_version},
    {0}};

static const char *const edges[] = {
    "rows=0,1,2,31,33,257 per_row=0,1,5 matrix=banded,uniform,powerlaw dist=whole",
    "rows=1 cols=1,31,33,129,5000 per_row=5000 matrix=uniform dist=whole",
    "rows=255,256,257 per_row=15,16,17,40 matrix=uniform dist=whole",
    "rows=3,1000 cols=7,100000 per_row=3,70 matrix=powerlaw dist=whole,uniform",
    "rows=5000 nonzeros=1,100,4093 matrix=powerlaw dist=whole",
    "rows=4,40 cols=20000 nonzeros=40001 matrix=powerlaw dist=whole",
    "rows=700 per_row=20 matrix=uniform,banded dist=uniform,constant,ascending,adversarial,special",
    "rows=200000 nonzeros=3000001 matrix=powerlaw dist=whole", /* several tiles for a block */
    NULL};

static const char *const bench[] = {"rows=4M per_row=16 matrix=banded,uniform,powerlaw",
                                    "rows=1M per_row=64 matrix=banded,uniform,powerlaw",
                                    "rows=16M per_row=4 matrix=banded,uniform,powerlaw",
                                    "rows=1K,16K,256K per_row=16 matrix=banded,powerlaw", NULL};

const struct zoo_family zoo_spmv = {
    .name = "spmv",
    .title = "sparse matrix times vector",
    .problem = "y = A x. A is stored as compressed rows (CSR): row r has the values and columns "
               "from offsets[r] up to offsets[r + 1]. Values, x and y are f32, indices i32.",
    .parameters = {{"rows", "rows of A", 0, (int64_t)1 << 30, 1 << 17, NULL},
                   {"cols", "columns of A; 0: as many as rows", 0, INT32_MAX, 0, NULL},
                   {"per_row", "nonzeros in a row on average", 0, INT32_MAX, 16, NULL},
                   {"matrix", "where the nonzeros lie", 0, 2, 0, matrices},
                   {"nonzeros", "of A; 0: rows * per_row", 0, INT32_MAX, 0, NULL},
                   {0}},
    .distributions = distributions,
    .profile = "rows=128K per_row=16 matrix=powerlaw",
    ZOO_FAMILY_PARTS,
};
