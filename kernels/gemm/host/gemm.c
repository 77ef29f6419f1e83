/*
 * gemm.c: the gemm family: C = A B by rows, with sums in f32. In f32 the variants go from one dot
 * product per thread to pipelined tiles (their launches are in f32.c). Tensor cores take f16, bf16
 * and tf32, from wmma to Hopper's warpgroup products, fed by TMA (tensor.c).
 */
#include "gemm.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { M = GEMM_M, N = GEMM_N, K = GEMM_K, TYPE = GEMM_TYPE };
enum { A = GEMM_A, B = GEMM_B, C = GEMM_C };

/* The problem -----------------------------------------------------------------------------------*/

static const enum zoo_type types[] = {
    [GEMM_F32] = ZOO_F32, [GEMM_F16] = ZOO_F16, [GEMM_BF16] = ZOO_BF16, [GEMM_TF32] = ZOO_F32};
static const char *const type_names[] = {
    [GEMM_F32] = "f32", [GEMM_F16] = "f16", [GEMM_BF16] = "bf16", [GEMM_TF32] = "tf32", NULL};

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t m = (size_t)problem->value[M], n = (size_t)problem->value[N],
           k = (size_t)problem->value[K];
    enum zoo_type type = types[problem->value[TYPE]];
    buffers[A] = (struct zoo_buffer){"a", ZOO_IN, type, m * k};
    buffers[B] = (struct zoo_buffer){"b", ZOO_IN, type, k * n};
    buffers[C] = (struct zoo_buffer){"c", ZOO_OUT, type, m * n};
    return 3;
}

/* Huge numbers are reduced until their products fit: whether a sum overflows on the way would
 * depend on the order of its additions. In f16 the result must fit, too. Tiny ones must not become
 * zero in tf32, since infinity times zero is not a number. */
static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    shape(problem, buffers);
    for (unsigned i = A; i <= B; i++) {
        enum zoo_type type = buffers[i].type;
        double most = type == ZOO_F16 ? 16 : 0x1p55;
        zoo_fill(problem, i, type, buffer[i], buffers[i].count);
        double least = problem->value[TYPE] == GEMM_TF32 ? 0x1p-120 : 0;
        bool extreme =
            problem->distribution == ZOO_SPECIAL || problem->distribution == ZOO_ADVERSARIAL;
        for (size_t j = 0; extreme && j < buffers[i].count; j++) {
            double value = zoo_get(type, buffer[i], j);
            if (isfinite(value) && fabs(value) > most)
                zoo_put(type, buffer[i], j, copysign(most, value));
            if (value != 0 && fabs(value) < least)
                zoo_put(type, buffer[i], j, copysign(least, value));
        }
    }
}

/* The reference works on bands of rows and stretches of columns that stay in the cache. */
enum { BAND = 4, STRETCH = 128, VECTOR = 16 };

struct sums {
    double value[BAND][STRETCH];     /* of the products */
    double magnitude[BAND][STRETCH]; /* of their absolute values */
    double square[BAND][STRETCH];    /* of their squares */
};

/* In whole vectors; what is beyond across is zero. */
static void add_row(struct sums *sums, unsigned row, double a, const double *b, int64_t across)
{
    for (int64_t from = 0; from < across; from += VECTOR)
        for (int64_t j = from; j < from + VECTOR; j++) {
            double product = a * b[j];
            sums->value[row][j] += product;
            sums->magnitude[row][j] += fabs(product);
            sums->square[row][j] += product * product;
        }
}

/* Adding k products rounds k times, by at most half a unit of a partial sum: in any order the error
 * is below (k + 2) units of the sum of magnitudes. With random signs the partial sums are a random
 * walk (a few times the root of the sum of squares, or the result) and so are the rounding errors.
 * That bound is far lower, and still some 20 times their spread. */
static double bound_f32(const struct zoo_problem *problem, double value, double magnitude,
                        double square)
{
    double k = (double)problem->value[K], unit = FLT_EPSILON / 2, least = k * 0x1p-149;
    double any = 1.001 * (k + 2) * unit * magnitude + least;
    double walk = 2 * unit * sqrt(k + 4) * (fabs(value) + 4 * sqrt(square)) + least;
    bool random = problem->distribution != ZOO_CONSTANT && problem->distribution != ZOO_ASCENDING;
    return random && walk < any ? walk : any;
}

/* Both factors of every product are rounded to 11 bits, by at most 2^-11. Of random numbers the
 * errors are a random walk, and 8 x 2^-11 of the root of the sum of squares is some ten times their
 * spread: factors of bf16 do not pass. */
static double bound_factors(const struct zoo_problem *problem, double magnitude, double square)
{
    double any = (0x1p-10 + 0x1p-22) * magnitude, walk = 0x1p-8 * sqrt(square);
    return problem->distribution == ZOO_UNIFORM && walk < any ? walk : any;
}

/* Tensor cores cut every product and the sum so far at 24 bits below the largest of them: with
 * every sixteen products (eight in tf32), or fewer, by at most 2^-23 of the magnitudes so far. Then
 * the sum is rounded, to bf16 by at most 2^-8 of it and to f16 by at most 2^-11, where it may also
 * overflow. In tf32 it stays f32, but both factors have been rounded; where they are tiny, by at
 * most 2^-137 of a number below 2^55.
 */
static double bound_tensor(const struct zoo_problem *problem, double value, double magnitude,
                           double square)
{
    static const double unit[] = {[GEMM_F16] = 0x1p-11, [GEMM_BF16] = 0x1p-8, [GEMM_TF32] = 0};
    static const double least[] = {
        [GEMM_F16] = 0x1p-25, [GEMM_BF16] = 0x1p-134, [GEMM_TF32] = 0x1p-81};
    int64_t type = problem->value[TYPE];
    double k = (double)problem->value[K], sum = (k / 8 + 4) * 0x1p-23 * magnitude;
    if (type == GEMM_TF32)
        sum += k / 8 * 0x1p-23 * magnitude + bound_factors(problem, magnitude, square);
    if (type == GEMM_F16 && fabs(value) + sum > 65504)
        return INFINITY;
    return sum + (fabs(value) + sum) * unit[type] * 1.0001 +
           (type == GEMM_TF32 ? k : 1) * least[type];
}

static double error_bound(const struct zoo_problem *problem, const struct sums *sums, int64_t row,
                          int64_t column)
{
    double value = sums->value[row][column], magnitude = sums->magnitude[row][column];
    return problem->value[TYPE] == GEMM_F32
               ? bound_f32(problem, value, magnitude, sums->square[row][column])
               : bound_tensor(problem, value, magnitude, sums->square[row][column]);
}

/* to[0..count) = from[at..] as doubles */
static void widen(double *to, enum zoo_type type, const void *from, int64_t at, int64_t count)
{
    if (type == ZOO_F32)
        for (int64_t i = 0; i < count; i++)
            to[i] = ((const float *)from)[at + i];
    else if (type == ZOO_F16)
        for (int64_t i = 0; i < count; i++)
            to[i] = zoo_from_f16(((const uint16_t *)from)[at + i]);
    else
        for (int64_t i = 0; i < count; i++)
            to[i] = zoo_from_bf16(((const uint16_t *)from)[at + i]);
}

static void reference_tile(const struct zoo_problem *problem, void *const *buffer, int64_t row,
                           int64_t column, struct zoo_expected *expected)
{
    int64_t m = problem->value[M], n = problem->value[N], k = problem->value[K];
    enum zoo_type type = types[problem->value[TYPE]];
    int64_t down = m - row < BAND ? m - row : BAND;
    int64_t across = n - column < STRETCH ? n - column : STRETCH;
    struct sums sums = {0};
    double of_b[STRETCH] = {0}, of_a;
    for (int64_t i = 0; i < k; i++) {
        widen(of_b, type, buffer[B], i * n + column, across);
        for (int64_t r = 0; r < down; r++) {
            widen(&of_a, type, buffer[A], (row + r) * k + i, 1);
            add_row(&sums, (unsigned)r, of_a, of_b, across);
        }
    }
    for (int64_t r = 0; r < down; r++)
        for (int64_t j = 0; j < across; j++) {
            int64_t at = (row + r) * n + column + j;
            expected->value[at] = sums.value[r][j];
            expected->bound[at] = error_bound(problem, &sums, r, j);
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
    return zoo_type_bytes[types[problem->value[TYPE]]] * (m * k + k * n + m * n);
}

static double flops(const struct zoo_problem *problem)
{
    return 2.0 * (double)problem->value[M] * (double)problem->value[N] * (double)problem->value[K];
}

static const char *unit(const struct zoo_problem *problem)
{
    static const char *const units[] = {[GEMM_F32] = "f32",
                                        [GEMM_F16] = "tensor-f16",
                                        [GEMM_BF16] = "tensor-bf16",
                                        [GEMM_TF32] = "tensor-tf32"};
    return units[problem->value[TYPE]];
}

static const struct zoo_variant variants[] = {
    {"naive", "a thread for each element, warps down the columns of C", gemm_launch_naive,
     .takes = gemm_is_narrow_f32, .traits = ZOO_DETERMINISTIC},
    {"coalesced", "warps along the rows of C", gemm_launch_coalesced, .takes = gemm_is_narrow_f32,
     .traits = ZOO_DETERMINISTIC},
    {"shared_tiled", "tiles of A and B in shared memory", gemm_launch_shared_tiled,
     .takes = gemm_is_narrow_f32, .traits = ZOO_DETERMINISTIC},
    {"register_column", "a column of C in each thread's registers", gemm_launch_register_column,
     .takes = gemm_is_narrow_f32, .traits = ZOO_DETERMINISTIC},
    {"register_tiled", "8 x 8 elements of C in each thread's registers", gemm_launch_register_tiled,
     .takes = gemm_is_narrow_f32, .traits = ZOO_DETERMINISTIC},
    {"vectorised", "16 bytes at a time, A transposed", gemm_launch_wide,
     .takes = gemm_is_narrow_f32, .traits = ZOO_DETERMINISTIC},
    {"double_buffered", "the next tile in registers, then in a second buffer", gemm_launch_wide,
     .takes = gemm_is_narrow_f32, .traits = ZOO_DETERMINISTIC},
    {"unrolled", "two tiles a turn, whole ones without checks", gemm_launch_wide,
     .takes = gemm_is_narrow_f32, .traits = ZOO_DETERMINISTIC},
    {"warp_tiled", "compact tiles for warps, lanes that share their loads", gemm_launch_wide,
     .takes = gemm_is_narrow_f32, .traits = ZOO_DETERMINISTIC},
    {"pipelined", "cp.async in stages, more sums for each thread, an order for the L2",
     gemm_launch_pipelined, .takes = gemm_is_f32, .traits = ZOO_DETERMINISTIC},
    {"register_banks", "8 x 16 sums a thread, in an order that suits the register banks",
     gemm_launch_wide, .takes = gemm_is_narrow_f32, .traits = ZOO_DETERMINISTIC},
    {"wmma", "tensor cores by CUDA's own names: fragments of 16 x 16", gemm_launch_wmma,
     .takes = gemm_is_f16, .traits = ZOO_DETERMINISTIC},
    {"mma_sync", "mma.sync from registers, ldmatrix, swizzled tiles by cp.async",
     gemm_launch_mma_sync, .takes = gemm_is_half, .traits = ZOO_DETERMINISTIC},
    {"mma_sync_tf32", "the same in TF32: f32's range, 10 bits behind the point",
     gemm_launch_mma_sync_tf32, .takes = gemm_is_tf32, .traits = ZOO_DETERMINISTIC},
    {"wgmma", "a warpgroup multiplies straight from shared memory", gemm_launch_wgmma,
     .takes = gemm_is_wide_bf16, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"tma", "one thread asks for whole tiles, the TMA unit copies them", gemm_launch_tma,
     .takes = gemm_is_wide_bf16, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"warp_specialised", "a warp copies, two warpgroups multiply; registers change hands",
     gemm_launch_warp_specialised, .takes = gemm_is_wide_bf16,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"multicast", "clusters of two blocks share B's tiles", gemm_launch_multicast,
     .takes = gemm_is_wide_bf16, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"persistent", "a block an SM makes tile after tile, in an order for the L2",
     gemm_launch_persistent, .takes = gemm_is_wide_bf16, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"overlapped", "C leaves by TMA while the next tile begins", gemm_launch_overlapped,
     .takes = gemm_is_wide_bf16, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"split_k", "blocks share a tile's k, a second kernel adds their sums", gemm_launch_split_k,
     .workspace = gemm_split_k_workspace, .takes = gemm_is_wide_bf16,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"stream_k", "an equal stretch of all the tiles' k for each SM", gemm_launch_stream_k,
     .workspace = gemm_stream_k_workspace, .takes = gemm_is_wide_bf16,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"wgmma_tf32", "TF32 by warpgroups: the product turned round, B from registers",
     gemm_launch_wgmma_tf32, .takes = gemm_is_wide_tf32, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"cpu_naive", "three loops", .cpu = gemm_cpu_naive, .takes = gemm_is_f32,
     .traits = ZOO_DETERMINISTIC},
    {"cpu_blocked", "along rows, blocks of B that stay in the cache", .cpu = gemm_cpu_blocked,
     .takes = gemm_is_f32, .traits = ZOO_DETERMINISTIC},
    {"cpu_simd", "packed panels, a tile of C in vector registers", .cpu = gemm_cpu_simd,
     .takes = gemm_is_f32, .traits = ZOO_DETERMINISTIC},
    {"cpu_openmp", "the same on all cores", .cpu = gemm_cpu_openmp, .takes = gemm_is_f32,
     .traits = ZOO_DETERMINISTIC},
    {"cpu_openblas", "cblas_sgemm of OpenBLAS", .cpu = gemm_cpu_openblas,
     .takes = gemm_cpu_has_openblas},
    {0}};

/* PyTorch computes in TF32 only if a switch is set. */
static bool torch_takes(const struct zoo_problem *problem)
{
    return problem->value[TYPE] != GEMM_TF32;
}

static const struct zoo_peer peers[] = {
    {"cublas", ZOO_PEER_LIBRARY, "cublasLtMatmul", .workspace = gemm_cublas_workspace,
     .run = gemm_cublas_run, .version = gemm_cublas_version},
    {"torch", ZOO_PEER_PYTHON, "torch.mm(x[0].view(m, k), x[1].view(k, n))", .takes = torch_takes},
    {0}};

static const char *const edges[] = {
    "m=0,1,2 n=0,1,3 k=0,1,5 type=f32,f16,bf16",
    "m=1,33 n=31,129 k=7,8,17 type=f32,f16,bf16",
    "m=127,128,129 n=127,128,132 k=16,20,33 type=f32",
    "m=127,129 n=128,136 k=16,24,72 type=f16,bf16",
    "m=63,64,65 n=64,65 k=64,65 type=f32",
    "m=65 n=264 k=64,65 type=f16,bf16",
    "m=1 n=1,8,304 k=1000 type=f32,f16,bf16",
    "m=300 n=1,8 k=520 type=f32,f16,bf16",
    "m=257 n=260 k=68 type=f32,f16,bf16",
    "m=70 n=68 k=40 dist=constant,ascending,adversarial,special type=f32",
    "m=70 n=72 k=40 dist=constant,ascending,adversarial,special type=f16,bf16",
    "m=256 n=256 k=256 type=f32",
    "m=520 n=520 k=200 type=f16,bf16",
    "m=1664 n=2816 k=72 type=bf16", /* more tiles than SMs */
    "m=0,1,2 n=0,1,3 k=0,1,5 type=tf32",
    "m=33,129 n=31,129,132 k=7,8,33 type=tf32",
    "m=257 n=260 k=64,68,100 type=tf32",
    "m=520 n=264 k=40 type=tf32 dist=uniform,constant,ascending,adversarial,special",
    "m=200 n=520 k=1096 type=bf16,tf32",
    NULL};

static const char *const bench[] = {"m=4K n=4K k=4K type=f32,f16,bf16,tf32",
                                    "m=8K n=8K k=8K type=f32,f16,bf16,tf32",
                                    "m=2K n=2K k=2K type=f32,bf16",
                                    "m=16K n=16K k=16K type=bf16",
                                    "m=1K n=1K k=1K type=f32,bf16",
                                    "m=512 n=512 k=512 type=f32,bf16",
                                    "m=256 n=256 k=256 type=bf16",
                                    "m=128 n=128 k=128 type=bf16",
                                    "m=512 n=4096 k=14336 type=bf16",
                                    "m=4096 n=14336 k=4096 type=bf16",
                                    "m=4095 n=4097 k=4099 type=f32",
                                    "m=16K n=1K k=1K type=f32",
                                    "m=256 n=256 k=64K type=f32,bf16",
                                    "m=1792 n=2560 k=4096 type=bf16",
                                    "m=8K n=8K k=64 type=f32",
                                    NULL};

extern const struct zoo_family zoo_gemm_fused;

const struct zoo_family zoo_gemm = {
    .name = "gemm",
    .title = "matrix times matrix",
    .problem = "C = A B, where A is m x k, B is k x n and C is m x n, all of one type and by rows, "
               "with sums in f32. With k = 0 C is zero. In tf32 the matrices are f32, and each "
               "factor is rounded to TF32.",
    .parameters = {{"m", "rows of A and C", 0, 1 << 30, 1024, NULL},
                   {"n", "columns of B and C", 0, 1 << 22, 1024, NULL},
                   {"k", "columns of A, rows of B", 0, 1 << 26, 1024, NULL},
                   {"type", "of the elements; tf32: f32, rounded", 0, 3, 0, type_names},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "m=512 n=512 k=512 type=f32,f16,bf16,tf32",
    .unit = unit,
    .tuned_with = &zoo_gemm_fused,
    ZOO_FAMILY_PARTS,
};
