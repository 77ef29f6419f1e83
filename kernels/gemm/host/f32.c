/*
 * matmul.c: the matmul family: C = A B in f32, by rows. The variants go from one dot product per
 * thread to tiles in registers that keep the f32 units busy; tensor cores are not used.
 */
#include "matmul.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { M = MATMUL_M, N = MATMUL_N, K = MATMUL_K };
enum { A = MATMUL_A, B = MATMUL_B, C = MATMUL_C };

/* The problem -----------------------------------------------------------------------------------*/

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t m = (size_t)problem->value[M], n = (size_t)problem->value[N],
           k = (size_t)problem->value[K];
    buffers[A] = (struct zoo_buffer){"a", ZOO_IN, ZOO_F32, m * k};
    buffers[B] = (struct zoo_buffer){"b", ZOO_IN, ZOO_F32, k * n};
    buffers[C] = (struct zoo_buffer){"c", ZOO_OUT, ZOO_F32, m * n};
    return 3;
}

/* Huge numbers are reduced until their products fit: whether a sum overflows on the way would
 * depend on the order of its additions. */
static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    shape(problem, buffers);
    for (unsigned i = A; i <= B; i++) {
        float *x = buffer[i];
        zoo_fill(problem, i, ZOO_F32, x, buffers[i].count);
        for (size_t j = 0; problem->distribution == ZOO_SPECIAL && j < buffers[i].count; j++)
            if (isfinite(x[j]) && fabsf(x[j]) > 0x1p55f)
                x[j] = copysignf(0x1p55f, x[j]);
    }
}

/* The reference works on bands of rows and stretches of columns that stay in the cache. */
enum { BAND = 4, STRETCH = 128 };

struct sums {
    double value[BAND][STRETCH];     /* of the products */
    double magnitude[BAND][STRETCH]; /* of their absolute values */
    double square[BAND][STRETCH];    /* of their squares */
};

static void add_row(struct sums *sums, unsigned row, double a, const double *b)
{
    for (unsigned j = 0; j < STRETCH; j++) {
        double product = a * b[j];
        sums->value[row][j] += product;
        sums->magnitude[row][j] += fabs(product);
        sums->square[row][j] += product * product;
    }
}

/* Adding k products rounds k times, by at most half a unit of a partial sum: in any order the error
 * is at most (k + 2) * 2^-24 * the sum of magnitudes. Where signs and sizes are random, partial
 * sums are a random walk (a few times the root of the sum of squares, or the result) and so are the
 * rounding errors. That bound is far lower, and still some 20 times their spread. */
static double error_bound(const struct zoo_problem *problem, const struct sums *sums, unsigned row,
                          unsigned column)
{
    double k = (double)problem->value[K], unit = FLT_EPSILON / 2, least = k * 0x1p-149;
    double any = 1.001 * (k + 2) * unit * sums->magnitude[row][column] + least;
    double walk = 2 * unit * sqrt(k + 4) *
                      (fabs(sums->value[row][column]) + 4 * sqrt(sums->square[row][column])) +
                  least;
    bool random = problem->distribution != ZOO_CONSTANT && problem->distribution != ZOO_ASCENDING;
    return random && walk < any ? walk : any;
}

static void reference_tile(const struct zoo_problem *problem, void *const *buffer, int64_t row,
                           int64_t column, struct zoo_expected *expected)
{
    int64_t m = problem->value[M], n = problem->value[N], k = problem->value[K];
    const float *a = buffer[A], *b = buffer[B];
    int64_t down = m - row < BAND ? m - row : BAND;
    int64_t across = n - column < STRETCH ? n - column : STRETCH;
    struct sums sums = {0};
    double of_b[STRETCH] = {0};
    for (int64_t i = 0; i < k; i++) {
        for (int64_t j = 0; j < across; j++)
            of_b[j] = b[i * n + column + j];
        for (int64_t r = 0; r < down; r++)
            add_row(&sums, (unsigned)r, a[(row + r) * k + i], of_b);
    }
    for (int64_t r = 0; r < down; r++)
        for (int64_t j = 0; j < across; j++) {
            int64_t at = (row + r) * n + column + j;
            expected->value[at] = sums.value[r][j];
            expected->bound[at] = error_bound(problem, &sums, (unsigned)r, (unsigned)j);
        }
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    int64_t m = problem->value[M], n = problem->value[N];
#pragma omp parallel for schedule(dynamic, 4) collapse(2)
    for (int64_t column = 0; column < n; column += STRETCH)
        for (int64_t row = 0; row < m; row += BAND)
            reference_tile(problem, buffer, row, column, &expected[C]);
}

static double bytes(const struct zoo_problem *problem)
{
    double m = (double)problem->value[M], n = (double)problem->value[N],
           k = (double)problem->value[K];
    return 4 * (m * k + k * n + m * n);
}

static double flops(const struct zoo_problem *problem)
{
    return 2.0 * (double)problem->value[M] * (double)problem->value[N] * (double)problem->value[K];
}

/* Launches --------------------------------------------------------------------------------------*/

static CUresult launch(struct zoo_call *call, const char *kernel, struct zoo_grid grid)
{
    int64_t m = call->problem->value[M], n = call->problem->value[N], k = call->problem->value[K];
    if (m == 0 || n == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, kernel, grid, &call->buffer[A], &call->buffer[B], &call->buffer[C], &m,
                      &n, &k);
}

/* A block for each down x across elements of C. Rows go along x, because a grid has at most 65535
 * blocks along y, and very tall matrices are more common than very wide ones. */
static struct zoo_grid grid_of(const struct zoo_call *call, int64_t down, int64_t across)
{
    return (struct zoo_grid){.x = zoo_ceil_div(call->problem->value[M], down),
                             .y = zoo_ceil_div(call->problem->value[N], across)};
}

static CUresult launch_naive(struct zoo_call *call)
{
    int across = zoo_tunable(call, "ACROSS");
    struct zoo_grid grid = grid_of(call, 32, across);
    grid.threads = 32;
    grid.ty = (unsigned)across;
    return launch(call, "matmul", grid);
}

static CUresult launch_coalesced(struct zoo_call *call)
{
    int down = zoo_tunable(call, "DOWN");
    struct zoo_grid grid = grid_of(call, down, 32);
    grid.threads = 32;
    grid.ty = (unsigned)down;
    return launch(call, "matmul", grid);
}

static CUresult launch_shared_tiled(struct zoo_call *call)
{
    int tile = zoo_tunable(call, "TILE");
    struct zoo_grid grid = grid_of(call, tile, tile);
    grid.threads = grid.ty = (unsigned)tile;
    return launch(call, "matmul", grid);
}

static CUresult launch_register_column(struct zoo_call *call)
{
    int bm = zoo_tunable(call, "BM"), bn = zoo_tunable(call, "BN");
    struct zoo_grid grid = grid_of(call, bm, bn);
    grid.threads = (unsigned)(bm / zoo_tunable(call, "TM") * bn);
    return launch(call, "matmul", grid);
}

static unsigned threads_of_tiles(const struct zoo_call *call)
{
    return (unsigned)(zoo_tunable(call, "BM") / zoo_tunable(call, "TM") *
                      (zoo_tunable(call, "BN") / zoo_tunable(call, "TN")));
}

static CUresult launch_register_tiled(struct zoo_call *call)
{
    struct zoo_grid grid = grid_of(call, zoo_tunable(call, "BM"), zoo_tunable(call, "BN"));
    grid.threads = threads_of_tiles(call);
    return launch(call, "matmul", grid);
}

/* The kernel for rows that all begin at multiples of 16 bytes, or the one for any. */
static const char *wide_or_any(const struct zoo_call *call)
{
    CUdeviceptr ends = call->buffer[A] | call->buffer[B] | call->buffer[C];
    bool wide =
        ends % 16 == 0 && call->problem->value[N] % 4 == 0 && call->problem->value[K] % 4 == 0;
    return wide ? "matmul_wide" : "matmul_any";
}

static CUresult launch_vectorised(struct zoo_call *call)
{
    struct zoo_grid grid = grid_of(call, zoo_tunable(call, "BM"), zoo_tunable(call, "BN"));
    grid.threads = threads_of_tiles(call);
    return launch(call, wide_or_any(call), grid);
}

/* A grid of one dimension: the kernel chooses the order of its tiles itself. */
static CUresult launch_warp_tiled(struct zoo_call *call)
{
    int bm = zoo_tunable(call, "BM"), bn = zoo_tunable(call, "BN"), bk = zoo_tunable(call, "BK");
    struct zoo_grid grid = grid_of(call, bm, bn);
    grid.x *= grid.y;
    grid.y = 1;
    grid.threads = threads_of_tiles(call);
    grid.shared = (unsigned)(zoo_tunable(call, "STAGES") * (bm + bn) * bk * 4);
    return launch(call, wide_or_any(call), grid);
}

static const struct zoo_variant variants[] = {
    {"naive", "a thread for each element, warps down the columns of C", launch_naive,
     .traits = ZOO_DETERMINISTIC},
    {"coalesced", "warps along the rows of C", launch_coalesced, .traits = ZOO_DETERMINISTIC},
    {"shared_tiled", "tiles of A and B in shared memory", launch_shared_tiled,
     .traits = ZOO_DETERMINISTIC},
    {"register_column", "a column of C in each thread's registers", launch_register_column,
     .traits = ZOO_DETERMINISTIC},
    {"register_tiled", "8 x 8 elements of C in each thread's registers", launch_register_tiled,
     .traits = ZOO_DETERMINISTIC},
    {"vectorised", "16 bytes at a time, A transposed, the next tile in registers",
     launch_vectorised, .traits = ZOO_DETERMINISTIC},
    {"warp_tiled", "cp.async in stages, compact tiles for warps, swizzled A", launch_warp_tiled,
     .traits = ZOO_DETERMINISTIC},
    {"cpu_naive", "three loops", .cpu = matmul_cpu_naive, .traits = ZOO_DETERMINISTIC},
    {"cpu_blocked", "along rows, blocks of B that stay in the cache", .cpu = matmul_cpu_blocked,
     .traits = ZOO_DETERMINISTIC},
    {"cpu_simd", "packed panels, a tile of C in vector registers", .cpu = matmul_cpu_simd,
     .traits = ZOO_DETERMINISTIC},
    {"cpu_openmp", "the same on all cores", .cpu = matmul_cpu_openmp, .traits = ZOO_DETERMINISTIC},
    {"cpu_openblas", "cblas_sgemm of OpenBLAS", .cpu = matmul_cpu_openblas,
     .takes = matmul_cpu_has_openblas},
    {0}};

static const struct zoo_peer peers[] = {
    {"cublas", ZOO_PEER_LIBRARY, "cublasSgemm", .run = matmul_cublas_run,
     .version = matmul_cublas_version},
    {"torch", ZOO_PEER_PYTHON, "torch.mm(x[0].view(m, k), x[1].view(k, n))", .takes = NULL},
    {0}};

static const char *const edges[] = {"m=0,1,2 n=0,1,3 k=0,1,5",
                                    "m=1,33 n=31,129 k=7,8,17",
                                    "m=127,128,129 n=127,128,132 k=16,20,33",
                                    "m=63,64,65 n=64,65 k=64,65",
                                    "m=1 n=1,300 k=1000",
                                    "m=300 n=1 k=515",
                                    "m=257 n=260 k=68",
                                    "m=70 n=68 k=40 dist=constant,ascending,adversarial,special",
                                    "m=256 n=256 k=256",
                                    NULL};

static const char *const bench[] = {"m=4K n=4K k=4K",    "m=8K n=8K k=8K",
                                    "m=2K n=2K k=2K",    "m=1K n=1K k=1K",
                                    "m=512 n=512 k=512", "m=4095 n=4097 k=4099",
                                    "m=16K n=1K k=1K",   "m=256 n=256 k=64K",
                                    "m=8K n=8K k=64",    NULL};

const struct zoo_family zoo_matmul = {
    .name = "matmul",
    .title = "matrix times matrix, f32",
    .problem = "C = A B, where A is m x k, B is k x n and C is m x n, all f32 and by rows. With "
               "k = 0 C is zero.",
    .parameters = {{"m", "rows of A and C", 0, 1 << 30, 1024, NULL},
                   {"n", "columns of B and C", 0, 1000000, 1024, NULL},
                   {"k", "columns of A, rows of B", 0, 1 << 26, 1024, NULL},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "m=512 n=512 k=512",
    ZOO_FAMILY_PARTS,
};
