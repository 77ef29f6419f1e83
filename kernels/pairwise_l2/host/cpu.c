/*
 * cpu.c: the distances on the CPU: loops, blocks, vector registers, all cores; and by lengths and a
 * product, with OpenBLAS.
 */
#include "pairwise_l2.h"

#include "openblas.h"

#include <string.h>

#define STEP(sum, x, y) ((sum) + ((x) - (y)) * ((x) - (y)))
#include "cpu_tiles.h"

static float distance(const float *x, const float *y, int64_t d)
{
    float sum = 0;
    for (int64_t l = 0; l < d; l++)
        sum += (x[l] - y[l]) * (x[l] - y[l]);
    return sum;
}

void pairwise_cpu_naive(const struct zoo_problem *problem, void **buffer)
{
    int64_t n = problem->value[PAIRWISE_N], m = problem->value[PAIRWISE_M],
            d = problem->value[PAIRWISE_D];
    const float *x = buffer[PAIRWISE_X], *y = buffer[PAIRWISE_Y];
    float *out = buffer[PAIRWISE_OUT];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            out[i * m + j] = distance(x + i * d, y + j * d, d);
}

/* Stretches of as many vectors of y as stay in the cache, for all vectors of x; long vectors in
 * parts. */
void pairwise_cpu_blocked(const struct zoo_problem *problem, void **buffer)
{
    enum { VECTORS = 64, DEEP = 256 };
    int64_t n = problem->value[PAIRWISE_N], m = problem->value[PAIRWISE_M],
            d = problem->value[PAIRWISE_D];
    const float *x = buffer[PAIRWISE_X], *y = buffer[PAIRWISE_Y];
    float *out = buffer[PAIRWISE_OUT];
    memset(out, 0, sizeof *out * (size_t)(n * m));
    for (int64_t first = 0; first < m; first += VECTORS)
        for (int64_t from = 0; from < d; from += DEEP) {
            int64_t end = first + VECTORS < m ? first + VECTORS : m;
            int64_t deep = from + DEEP < d ? DEEP : d - from;
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = first; j < end; j++)
                    out[i * m + j] += distance(x + i * d + from, y + j * d + from, deep);
        }
}

static void run_tiles(const struct zoo_problem *problem, void **buffer, bool all_cores)
{
    int64_t d = problem->value[PAIRWISE_D];
    struct tiles_job job = {.rows = problem->value[PAIRWISE_N],
                            .columns = problem->value[PAIRWISE_M],
                            .depth = d,
                            .x = buffer[PAIRWISE_X],
                            .x_row = d,
                            .x_depth = 1,
                            .y = buffer[PAIRWISE_Y],
                            .y_depth = 1,
                            .y_column = d,
                            .c = buffer[PAIRWISE_OUT]};
    tiles_run(&job, all_cores);
}

void pairwise_cpu_simd(const struct zoo_problem *problem, void **buffer)
{
    run_tiles(problem, buffer, false);
}

void pairwise_cpu_openmp(const struct zoo_problem *problem, void **buffer)
{
    run_tiles(problem, buffer, true);
}

bool pairwise_cpu_has_openblas(const struct zoo_problem *problem)
{
    return problem->value[PAIRWISE_ERROR] == PAIRWISE_OF_LENGTHS && openblas_find_sgemm() != NULL;
}

static float length(const float *x, int64_t d)
{
    float sum = 0;
    for (int64_t l = 0; l < d; l++)
        sum += x[l] * x[l];
    return sum;
}

/* |x|^2 + |y|^2 - 2 x y */
void pairwise_cpu_openblas(const struct zoo_problem *problem, void **buffer)
{
    int n = (int)problem->value[PAIRWISE_N], m = (int)problem->value[PAIRWISE_M],
        d = (int)problem->value[PAIRWISE_D];
    const float *x = buffer[PAIRWISE_X], *y = buffer[PAIRWISE_Y];
    float *out = buffer[PAIRWISE_OUT];
    if (n == 0 || m == 0)
        return;
    float *of_y = malloc(sizeof *of_y * (size_t)m);
    if (!of_y)
        abort();
    openblas_find_sgemm()(CBLAS_ROWS, CBLAS_AS_IS, CBLAS_TRANSPOSED, n, m, d, -2, x, d ? d : 1, y,
                          d ? d : 1, 0, out, m);
#pragma omp parallel
    {
#pragma omp for
        for (int64_t j = 0; j < m; j++)
            of_y[j] = length(y + j * d, d);
#pragma omp for
        for (int64_t i = 0; i < n; i++) {
            float of_x = length(x + i * d, d);
            for (int64_t j = 0; j < m; j++) {
                float value = of_x + of_y[j] + out[i * m + j];
                out[i * m + j] = value < 0 ? 0 : value;
            }
        }
    }
    free(of_y);
}
