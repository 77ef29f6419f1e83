/*
 * shared_tiled.cu: a block makes TILE x TILE elements of C and goes through A and B in square tiles
 * that it keeps in shared memory: each element is read from global memory once for TILE uses. What
 * limits it now is shared memory: two loads from there for each multiplication.
 */
// arch: sm_75
#include "tile.h"
#define TILE 32 // tune: 16 32

KERNEL __launch_bounds__(TILE *TILE)
    matmul(const f32 *a, const f32 *b, f32 *c, i64 m, i64 n, i64 k)
{
    __shared__ f32 of_a[TILE][TILE], of_b[TILE][TILE];
    u32 x = thread_x(), y = thread_y();
    i64 row = (i64)block_x() * TILE + y, column = (i64)block_y() * TILE + x;
    matrix left = matrix_of(a, m, k), right = matrix_of(b, k, n);
    f32 sum = 0;
    for (i64 from = 0; from < k; from += TILE) {
        of_a[y][x] = element(left, row, from + x);
        of_b[y][x] = element(right, from + y, column);
        sync_block();
#pragma unroll
        for (u32 i = 0; i < TILE; i++)
            sum = fma_f32(of_a[y][i], of_b[i][x], sum);
        sync_block();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}
