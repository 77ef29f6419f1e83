/*
 * pairwise_l2.c: the pairwise_l2 family: squared Euclidean distances from every vector of x to
 * every vector of y. The variants go from one thread per distance to tiles in registers, and from
 * differences to a matrix product, which is faster and rounds differently.
 */
#include "pairwise_l2.h"

#include <float.h>
#include <math.h>

enum { N = PAIRWISE_N, M = PAIRWISE_M, D = PAIRWISE_D, ERROR = PAIRWISE_ERROR };
enum { X = PAIRWISE_X, Y = PAIRWISE_Y, OUT = PAIRWISE_OUT };

/* The usual ones, and two more: y has the vectors of x; all points lie near each other, far from
 * 0. */
static const char *const distributions[] = {"uniform", "constant", "ascending", "adversarial",
                                            "special", "same",     "far",       NULL};
enum { SAME = ZOO_SPECIAL + 1, FAR };

static const char *const errors[] = {"lengths", "distance", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t n = (size_t)problem->value[N], m = (size_t)problem->value[M],
           d = (size_t)problem->value[D];
    buffers[X] = (struct zoo_buffer){"x", ZOO_IN, ZOO_F32, n * d};
    buffers[Y] = (struct zoo_buffer){"y", ZOO_IN, ZOO_F32, m * d};
    buffers[OUT] = (struct zoo_buffer){"out", ZOO_OUT, ZOO_F32, n * m};
    return 3;
}

/* Huge numbers are reduced until their squares fit. Where errors are measured against the lengths
 * there are no infinities either: the product form turns them into NaN, differences into
 * infinity. */
static float tame(const struct zoo_problem *problem, float x)
{
    if (isinf(x))
        return problem->value[ERROR] == PAIRWISE_OF_LENGTHS ? NAN : x;
    return fabsf(x) > 0x1p55f ? copysignf(0x1p55f, x) : x;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    shape(problem, buffers);
    for (unsigned i = X; i <= Y; i++) {
        float *to = buffer[i];
        zoo_fill(problem, i, ZOO_F32, to, buffers[i].count);
        for (size_t j = 0; problem->distribution == ZOO_SPECIAL && j < buffers[i].count; j++)
            to[j] = tame(problem, to[j]);
        for (size_t j = 0; problem->distribution == FAR && j < buffers[i].count; j++)
            to[j] = 100 + to[j];
    }
    const float *x = buffer[X];
    float *y = buffer[Y];
    for (size_t j = 0; problem->distribution == SAME && j < buffers[Y].count; j++)
        y[j] = buffers[X].count ? x[j % buffers[X].count] : 0;
}

static double square_length(const float *x, int64_t d)
{
    double sum = 0;
    for (int64_t l = 0; l < d; l++)
        sum += (double)x[l] * x[l];
    return sum;
}

static double square_distance(const float *x, const float *y, int64_t d)
{
    double sum = 0;
    for (int64_t l = 0; l < d; l++) {
        double difference = (double)x[l] - y[l];
        sum += difference * difference;
    }
    return sum;
}

/* Differences: a sum of squares is rounded d times, each time by at most half a unit of the
 * distance; a point's distance to itself is exactly 0. Lengths and product: the same for sums as
 * large as |x|^2 + |y|^2 and 2 |x||y|, however small the distance. Either way there are at most d +
 * 4 such errors, which add up to a few times the root of their number where their signs are random.
 */
static double error_bound(const struct zoo_problem *problem, double distance, double lengths)
{
    double d = (double)problem->value[D], all = 1.001 * (d + 4), walk = 4 * sqrt(d + 4) + 4;
    double scale = problem->value[ERROR] == PAIRWISE_OF_DISTANCE ? distance : 2 * lengths;
    bool random = problem->distribution != ZOO_CONSTANT && problem->distribution != ZOO_ASCENDING;
    return FLT_EPSILON / 2 * scale * (random && walk < all ? walk : all) + d * 0x1p-149;
}

/* Blocks of vectors of y stay in the cache for all of x. */
static void reference_band(const struct zoo_problem *problem, void *const *buffer, int64_t i,
                           int64_t first, int64_t end, struct zoo_expected *expected)
{
    int64_t m = problem->value[M], d = problem->value[D];
    const float *x = (const float *)buffer[X] + i * d, *y = buffer[Y];
    double of_x = square_length(x, d);
    for (int64_t j = first; j < end; j++) {
        double distance = square_distance(x, y + j * d, d);
        expected->value[i * m + j] = distance;
        expected->bound[i * m + j] =
            error_bound(problem, distance, of_x + square_length(y + j * d, d));
    }
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    enum { BLOCK = 64 };
    int64_t n = problem->value[N], m = problem->value[M];
#pragma omp parallel for schedule(dynamic, 16) collapse(2)
    for (int64_t first = 0; first < m; first += BLOCK)
        for (int64_t i = 0; i < n; i++)
            reference_band(problem, buffer, i, first, first + BLOCK < m ? first + BLOCK : m,
                           &expected[OUT]);
}

static double bytes(const struct zoo_problem *problem)
{
    double n = (double)problem->value[N], m = (double)problem->value[M],
           d = (double)problem->value[D];
    return 4 * (n * d + m * d + n * m);
}

/* Of the product form, which needs the fewest; differences need half as many again. */
static double flops(const struct zoo_problem *problem)
{
    return 2.0 * (double)problem->value[N] * (double)problem->value[M] * (double)problem->value[D];
}

/* Launches --------------------------------------------------------------------------------------*/

/* A block for each down x across distances: rows along x, columns along y (at most 65535 blocks).
 */
static CUresult launch_direct(struct zoo_call *call, int down, int across, unsigned threads,
                              unsigned threads_down)
{
    int64_t n = call->problem->value[N], m = call->problem->value[M], d = call->problem->value[D];
    if (n == 0 || m == 0)
        return CUDA_SUCCESS;
    struct zoo_grid grid = {.x = zoo_ceil_div(n, down),
                            .y = zoo_ceil_div(m, across),
                            .threads = threads,
                            .ty = threads_down};
    return ZOO_LAUNCH(call, "pairwise", grid, &call->buffer[X], &call->buffer[Y],
                      &call->buffer[OUT], &n, &m, &d);
}

static CUresult launch_naive(struct zoo_call *call)
{
    int down = zoo_tunable(call, "DOWN");
    return launch_direct(call, down, 32, 32, (unsigned)down);
}

static CUresult launch_tiled(struct zoo_call *call)
{
    int tile = zoo_tunable(call, "TILE");
    return launch_direct(call, tile, tile, (unsigned)(tile * tile), 1);
}

static unsigned threads_of_tiles(const struct zoo_call *call)
{
    return (unsigned)(zoo_tunable(call, "BM") / zoo_tunable(call, "TM") *
                      (zoo_tunable(call, "BN") / zoo_tunable(call, "TN")));
}

static CUresult launch_register_tiled(struct zoo_call *call)
{
    return launch_direct(call, zoo_tunable(call, "BM"), zoo_tunable(call, "BN"),
                         threads_of_tiles(call), 1);
}

static bool against_lengths(const struct zoo_problem *problem)
{
    return problem->value[ERROR] == PAIRWISE_OF_LENGTHS;
}

static size_t workspace_gemm_form(const struct zoo_call *call)
{
    return 4 * (size_t)(call->problem->value[N] + call->problem->value[M]);
}

static CUresult launch_gemm_form(struct zoo_call *call)
{
    int64_t n = call->problem->value[N], m = call->problem->value[M], d = call->problem->value[D];
    int bm = zoo_tunable(call, "BM"), bn = zoo_tunable(call, "BN"), bk = zoo_tunable(call, "BK");
    if (n == 0 || m == 0)
        return CUDA_SUCCESS;
    CUresult status = ZOO_LAUNCH(
        call, "lengths", ((struct zoo_grid){.x = zoo_ceil_div((n + m) * 32, 256), .threads = 256}),
        &call->buffer[X], &call->buffer[Y], &call->workspace, &n, &m, &d);
    if (status != CUDA_SUCCESS)
        return status;
    CUdeviceptr ends = call->buffer[X] | call->buffer[Y] | call->buffer[OUT];
    struct zoo_grid grid = {.x = zoo_ceil_div(n, bm),
                            .y = zoo_ceil_div(m, bn),
                            .threads = threads_of_tiles(call),
                            .shared = (unsigned)(zoo_tunable(call, "STAGES") * (bm + bn) * bk * 4)};
    return ZOO_LAUNCH(
        call, ends % 16 == 0 && d % 4 == 0 && m % 4 == 0 ? "pairwise_wide" : "pairwise_any", grid,
        &call->buffer[X], &call->buffer[Y], &call->workspace, &call->buffer[OUT], &n, &m, &d);
}

static const struct zoo_variant variants[] = {
    {"naive", "a thread for each distance", launch_naive, .traits = ZOO_DETERMINISTIC},
    {"tiled", "tiles of both sets in shared memory", launch_tiled, .traits = ZOO_DETERMINISTIC},
    {"register_tiled", "8 x 8 distances in each thread's registers", launch_register_tiled,
     .traits = ZOO_DETERMINISTIC},
    {"gemm_form", "lengths and a product of matrices instead of differences", launch_gemm_form,
     workspace_gemm_form, against_lengths, .traits = ZOO_DETERMINISTIC},
    {"cpu_naive", "three loops", .cpu = pairwise_cpu_naive, .traits = ZOO_DETERMINISTIC},
    {"cpu_blocked", "vectors of y that stay in the cache", .cpu = pairwise_cpu_blocked,
     .traits = ZOO_DETERMINISTIC},
    {"cpu_simd", "packed panels, a tile of distances in vector registers", .cpu = pairwise_cpu_simd,
     .traits = ZOO_DETERMINISTIC},
    {"cpu_openmp", "the same on all cores", .cpu = pairwise_cpu_openmp,
     .traits = ZOO_DETERMINISTIC},
    {"cpu_openblas", "lengths and cblas_sgemm of OpenBLAS", .cpu = pairwise_cpu_openblas,
     .takes = pairwise_cpu_has_openblas},
    {0}};

static const struct zoo_peer peers[] = {{"torch", ZOO_PEER_PYTHON,
                                         "torch.cdist(x[0].view(n, d), x[1].view(m, d)).square()",
                                         .takes = against_lengths},
                                        {"torch_differences", ZOO_PEER_PYTHON,
                                         "torch.cdist(x[0].view(n, d), x[1].view(m, d), "
                                         "compute_mode='donot_use_mm_for_euclid_dist').square()",
                                         .takes = NULL},
                                        {0}};

static const char *const edges[] = {
    "n=0,1,2 m=0,1,3 d=0,1,5 error=lengths,distance",
    "n=1,33 m=31,129 d=7,8,17",
    "n=63,64,65 m=127,128,132 d=16,20,33",
    "n=129 m=65,128 d=12,31 error=distance",
    "n=1 m=1,300 d=1000",
    "n=300 m=1 d=516",
    "n=70 m=68 d=40 dist=constant,ascending,adversarial,special,same,far error=lengths,distance",
    "n=130 m=66 d=35 dist=same,far error=lengths,distance",
    "n=256 m=256 d=128",
    NULL};

static const char *const bench[] = {"n=8K m=8K d=128",     "n=8K m=8K d=128 error=distance",
                                    "n=4K m=4K d=1K",      "n=64K m=1K d=64",
                                    "n=16K m=16K d=3",     "n=1K m=1K d=32",
                                    "n=8191 m=8193 d=127", NULL};

const struct zoo_family zoo_pairwise_l2 = {
    .name = "pairwise_l2",
    .title = "squared distances of all pairs, f32",
    .problem = "out[i][j] = |x[i] - y[j]|^2 for n vectors x and m vectors y of d elements each. "
               "Errors are measured against |x|^2 + |y|^2, which lets it be computed as a product "
               "of matrices, or (error=distance) against the distance itself.",
    .parameters = {{"n", "vectors of x, rows of out", 0, 1 << 30, 1024, NULL},
                   {"m", "vectors of y, columns of out", 0, 1000000, 1024, NULL},
                   {"d", "elements of a vector", 0, 1 << 26, 128, NULL},
                   {"error", "is relative to the lengths or the distance", 0, 1, 0, errors},
                   {0}},
    .distributions = distributions,
    .profile = "n=512 m=512 d=256",
    ZOO_FAMILY_PARTS,
};
