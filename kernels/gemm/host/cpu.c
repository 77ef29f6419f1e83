/*
 * cpu.c: the product on the CPU, from three loops to vector registers on all cores, and OpenBLAS.
 */
#include "matmul.h"

#include "openblas.h"

#include <string.h>

#define STEP(sum, x, y) ((sum) + (x) * (y))
#include "cpu_tiles.h"

void matmul_cpu_naive(const struct zoo_problem *problem, void **buffer)
{
    int64_t m = problem->value[MATMUL_M], n = problem->value[MATMUL_N],
            k = problem->value[MATMUL_K];
    const float *a = buffer[MATMUL_A], *b = buffer[MATMUL_B];
    float *c = buffer[MATMUL_C];
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
void matmul_cpu_blocked(const struct zoo_problem *problem, void **buffer)
{
    enum { DEEP = 64, WIDE = 256 };
    int64_t m = problem->value[MATMUL_M], n = problem->value[MATMUL_N],
            k = problem->value[MATMUL_K];
    const float *a = buffer[MATMUL_A], *b = buffer[MATMUL_B];
    float *c = buffer[MATMUL_C];
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
    int64_t m = problem->value[MATMUL_M], n = problem->value[MATMUL_N],
            k = problem->value[MATMUL_K];
    struct tiles_job job = {.rows = m,
                            .columns = n,
                            .depth = k,
                            .x = buffer[MATMUL_A],
                            .x_row = k,
                            .x_depth = 1,
                            .y = buffer[MATMUL_B],
                            .y_depth = n,
                            .y_column = 1,
                            .c = buffer[MATMUL_C]};
    tiles_run(&job, all_cores);
}

void matmul_cpu_simd(const struct zoo_problem *problem, void **buffer)
{
    run_tiles(problem, buffer, false);
}

void matmul_cpu_openmp(const struct zoo_problem *problem, void **buffer)
{
    run_tiles(problem, buffer, true);
}

bool matmul_cpu_has_openblas(const struct zoo_problem *problem)
{
    return openblas_find_sgemm() != NULL;
}

void matmul_cpu_openblas(const struct zoo_problem *problem, void **buffer)
{
    int m = (int)problem->value[MATMUL_M], n = (int)problem->value[MATMUL_N],
        k = (int)problem->value[MATMUL_K];
    if (m == 0 || n == 0)
        return;
    openblas_find_sgemm()(CBLAS_ROWS, CBLAS_AS_IS, CBLAS_AS_IS, m, n, k, 1, buffer[MATMUL_A],
                          k ? k : 1, buffer[MATMUL_B], n, 0, buffer[MATMUL_C], n);
}
