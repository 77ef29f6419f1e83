/*
 * cpu_tiles.h: c[i][j] = the sum over l of a step of x[i][l] and y[l][j], on the CPU with vector
 * registers: a product of matrices, squared distances .. Host code. The file that includes it
 * defines STEP(sum, x, y) on vectors and calls tiles_run.
 *
 * Both inputs are packed into panels that are read front to back: x by ROWS rows, y by two vectors
 * of columns. A tile of ROWS by two vectors stays in registers for DEPTH steps. The tile function
 * is made for each instruction set (this file includes itself); the best of this CPU is taken.
 */
#ifndef TILES_LANES

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT ON
#else
#pragma GCC optimize("fp-contract=fast") /* one rounding for a product and its sum */
#endif

/* Matrices by any strides, in floats; c is by rows, without gaps. */
struct tiles_job {
    int64_t rows, columns, depth;
    const float *x; /* [i * x_row + l * x_depth] */
    int64_t x_row, x_depth;
    const float *y; /* [l * y_depth + j * y_column] */
    int64_t y_depth, y_column;
    float *c;
};

enum { TILES_DEPTH = 256, TILES_BAND = 8, TILES_STRETCH = 64 }; /* steps; panels of rows, columns */
enum { TILES_MOST_ROWS = 12, TILES_MOST_COLUMNS = 32 };

struct tiles_kernel {
    int rows, columns; /* of a tile */
    void (*tile)(const float *x, const float *y, int64_t depth, float *sums /* [rows][columns] */);
};

#define TILES_LANES 4
#define TILES_ROWS 4
#define TILES_TARGET
#define TILES_NAME(stem) stem##_4
#include "cpu_tiles.h"

#ifdef __x86_64__
#define TILES_LANES 8
#define TILES_ROWS 6
#define TILES_TARGET __attribute__((target("avx2,fma")))
#define TILES_NAME(stem) stem##_8
#include "cpu_tiles.h"

#define TILES_LANES 16
#define TILES_ROWS 12
#define TILES_TARGET __attribute__((target("avx512f,fma")))
#define TILES_NAME(stem) stem##_16
#include "cpu_tiles.h"
#endif

static struct tiles_kernel tiles_best(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return (struct tiles_kernel){12, 32, tiles_tile_16};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (struct tiles_kernel){6, 16, tiles_tile_8};
#endif
    return (struct tiles_kernel){4, 8, tiles_tile_4};
}

/* Panels of `width` lines side by side, zero past the last line: to[panel][depth][width]. */
static void tiles_pack(float *to, const float *from, int64_t line_stride, int64_t depth_stride,
                       int64_t lines, int64_t depth, int width)
{
    for (int64_t l = 0; l < depth; l++)
        for (int w = 0; w < width; w++)
            to[l * width + w] = w < lines ? from[w * line_stride + l * depth_stride] : 0;
}

/* Into c: the sums of one tile, or added to what an earlier stretch of the depth left there. */
static void tiles_put(const struct tiles_job *job, const struct tiles_kernel *kernel, int64_t row,
                      int64_t column, bool add, const float *sums)
{
    for (int r = 0; r < kernel->rows && row + r < job->rows; r++) {
        float *c = job->c + (row + r) * job->columns + column;
        for (int j = 0; j < kernel->columns && column + j < job->columns; j++)
            c[j] = (add ? c[j] : 0) + sums[r * kernel->columns + j];
    }
}

/* A part of the job: some columns, whose panels are packed already, a band of rows, some depth. */
struct tiles_part {
    int64_t row, column, columns, from, depth;
    const float *y; /* [panel][depth][kernel columns] */
};

static void tiles_band(const struct tiles_job *job, const struct tiles_kernel *kernel,
                       const struct tiles_part *part, float *x)
{
    float sums[TILES_MOST_ROWS * TILES_MOST_COLUMNS];
    for (int64_t i = 0; i < TILES_BAND && part->row + i * kernel->rows < job->rows; i++) {
        int64_t row = part->row + i * kernel->rows;
        tiles_pack(x, job->x + row * job->x_row + part->from * job->x_depth, job->x_row,
                   job->x_depth, job->rows - row, part->depth, kernel->rows);
        for (int64_t j = 0; j < part->columns; j += kernel->columns) {
            kernel->tile(x, part->y + j * part->depth, part->depth, sums);
            tiles_put(job, kernel, row, part->column + j, part->from > 0, sums);
        }
    }
}

/* One stretch of columns and of depth: all threads pack it, then take bands of rows. */
static void tiles_stretch(const struct tiles_job *job, const struct tiles_kernel *kernel,
                          struct tiles_part part, float *y, bool all_cores)
{
    part.y = y;
#pragma omp parallel if (all_cores)
    {
#pragma omp for schedule(static)
        for (int64_t j = 0; j < part.columns; j += kernel->columns)
            tiles_pack(y + j * part.depth,
                       job->y + part.from * job->y_depth + (part.column + j) * job->y_column,
                       job->y_column, job->y_depth, job->columns - part.column - j, part.depth,
                       kernel->columns);
        float x[TILES_DEPTH * TILES_MOST_ROWS];
#pragma omp for schedule(dynamic)
        for (int64_t row = 0; row < job->rows; row += TILES_BAND * kernel->rows) {
            struct tiles_part band = part;
            band.row = row;
            tiles_band(job, kernel, &band, x);
        }
    }
}

static void tiles_run(const struct tiles_job *job, bool all_cores)
{
    struct tiles_kernel kernel = tiles_best();
    int64_t wide = TILES_STRETCH * kernel.columns;
    float *y = malloc(sizeof *y * TILES_DEPTH * (size_t)wide);
    if (!y)
        abort();
    for (int64_t column = 0; column < job->columns; column += wide) {
        int64_t from = 0;
        do { /* once even where the depth is 0: the sums are 0 then */
            struct tiles_part part = {.column = column, .from = from};
            part.columns = job->columns - column < wide ? job->columns - column : wide;
            part.depth = job->depth - from < TILES_DEPTH ? job->depth - from : TILES_DEPTH;
            tiles_stretch(job, &kernel, part, y, all_cores);
            from += TILES_DEPTH;
        } while (from < job->depth);
    }
    free(y);
}

#else /* for one instruction set */

typedef float TILES_NAME(tiles_vector)
    __attribute__((vector_size(4 * TILES_LANES), aligned(4), may_alias));

TILES_TARGET static void TILES_NAME(tiles_tile)(const float *x, const float *y, int64_t depth,
                                                float *sums)
{
    typedef TILES_NAME(tiles_vector) vector;
    vector low[TILES_ROWS] = {{0}}, high[TILES_ROWS] = {{0}};
    for (int64_t l = 0; l < depth; l++, x += TILES_ROWS, y += 2 * TILES_LANES) {
        vector first = *(const vector *)y, second = *(const vector *)(y + TILES_LANES);
#pragma GCC unroll 16
        for (int r = 0; r < TILES_ROWS; r++) {
            low[r] = STEP(low[r], x[r], first);
            high[r] = STEP(high[r], x[r], second);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < TILES_ROWS; r++) {
        *(vector *)(sums + r * 2 * TILES_LANES) = low[r];
        *(vector *)(sums + (r * 2 + 1) * TILES_LANES) = high[r];
    }
}

#undef TILES_LANES
#undef TILES_ROWS
#undef TILES_TARGET
#undef TILES_NAME
#endif
