/*
 * tile.h: what the tiled matmul kernels share: elements of a matrix with zero around it, so that
 * tiles at the edges need no code of their own, and filling a tile of shared memory one by one.
 */
#include "device.h"

typedef struct {
    const f32 *at;
    i64 rows, columns;
} matrix;

DEVICE matrix matrix_of(const f32 *at, i64 rows, i64 columns)
{
    matrix x = {at, rows, columns};
    return x;
}

DEVICE f32 element(matrix x, i64 row, i64 column)
{
    return row < x.rows && column < x.columns ? x.at[row * x.columns + column] : 0.0f;
}

/* tile[down][across] = what of x begins at (row, column), by all threads of the block, neighbours
 * reading neighbours. The sizes are constants, so that the loop goes away. */
DEVICE void fill_tile(f32 *tile, u32 down, u32 across, matrix x, i64 row, i64 column, u32 thread,
                      u32 threads)
{
    u32 count = down * across;
#pragma unroll
    for (u32 from = 0; from < count; from += threads) {
        u32 i = from + thread;
        if (count % threads == 0 || i < count)
            tile[i] = element(x, row + i / across, column + i % across);
    }
}
