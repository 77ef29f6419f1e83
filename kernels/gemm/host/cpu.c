/*
 * cpu.c: the product in f32 on the CPU, from three loops to vector registers on all cores, and
 * OpenBLAS.
 */
#include "gemm.h"

#include "openblas.h"

#include <string.h>

#define STEP(sum, x, y) ((sum) + (x) * (y))
#include "cpu_tiles.h"

void gemm_cpu_naive(const struct zoo_problem *problem, void **buffer)
{
    int64_t m = problem->value[GEMM_M], n = problem->value[GEMM_N], k = problem->value[GEMM_K];
    const float *a = buffer[GEMM_A], *b = buffer[GEMM_B];
    float *c = buffer[GEMM_C];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += a[i * k + l] * b[l * n + j];
            c[i * n + j] = sum;
        }
}

static int64_t end_of(int64_t from, int64_t size, int64_t end)
{
    return from + size < end ? from + size : end;
}

/* A row of A times a block of B that stays in the cache: the innermost loop goes along rows of B
 * and C, and each block is used by every row of A. */
void gemm_cpu_blocked(const struct zoo_problem *problem, void **buffer)
{
    enum { DEEP = 64, WIDE = 256 };
    int64_t m = problem->value[GEMM_M], n = problem->value[GEMM_N], k = problem->value[GEMM_K];
    const float *a = buffer[GEMM_A], *b = buffer[GEMM_B];
    float *c = buffer[GEMM_C];
    memset(c, 0, sizeof *c * (size_t)(m * n));
    for (int64_t column = 0; column < n; column += WIDE)
        for (int64_t from = 0; from < k; from += DEEP)
            for (int64_t i = 0; i < m; i++)
                for (int64_t l = from; l < end_of(from, DEEP, k); l++) {
                    float left = a[i * k + l];
                    for (int64_t j = column; j < end_of(column, WIDE, n); j++)
                        c[i * n + j] += left * b[l * n + j];
                }
}

static void run_tiles(const struct zoo_problem *problem, void **buffer, bool all_cores)
{
    int64_t m = problem->value[GEMM_M], n = problem->value[GEMM_N], k = problem->value[GEMM_K];
    struct tiles_job job = {.rows = m,
                            .columns = n,
                            .depth = k,
                            .x = buffer[GEMM_A],
                            .x_row = k,
                            .x_depth = 1,
                            .y = buffer[GEMM_B],
                            .y_depth = n,
                            .y_column = 1,
                            .c = buffer[GEMM_C]};
    tiles_run(&job, all_cores);
}

void gemm_cpu_simd(const struct zoo_problem *problem, void **buffer)
{
    run_tiles(problem, buffer, false);
}

void gemm_cpu_openmp(const struct zoo_problem *problem, void **buffer)
{
    run_tiles(problem, buffer, true);
}

bool gemm_cpu_has_openblas(const struct zoo_problem *problem)
{
    return gemm_is_f32(problem) && openblas_find_sgemm() != NULL;
}

void gemm_cpu_openblas(const struct zoo_problem *problem, void **buffer)
{
    int m = (int)problem->value[GEMM_M], n = (int)problem->value[GEMM_N],
        k = (int)problem->value[GEMM_K];
    if (m == 0 || n == 0)
        return;
    openblas_find_sgemm()(CBLAS_ROWS, CBLAS_AS_IS, CBLAS_AS_IS, m, n, k, 1, buffer[GEMM_A],
                          k ? k : 1, buffer[GEMM_B], n, 0, buffer[GEMM_C], n);
}
