/*
 * tiled.cu: a block makes TILE x TILE distances and goes along the vectors in tiles that it keeps
 * in shared memory: each element is read from global memory, in whole sectors, once for TILE uses.
 * The rows in shared memory are one word longer than they need to be, so that threads that read one
 * below the other meet different banks.
 */
// arch: sm_75
#include "points.h"
#define TILE 32 // tune: 16 32
#define ROW (TILE + 1)

KERNEL __launch_bounds__(TILE *TILE)
    pairwise(const f32 *x, const f32 *y, f32 *out, i64 n, i64 m, i64 d)
{
    __shared__ f32 of_x[TILE * ROW], of_y[TILE * ROW];
    u32 thread = thread_x(), across = thread % TILE, down = thread / TILE;
    i64 row = (i64)block_x() * TILE, column = (i64)block_y() * TILE;
    f32 sum = 0;
    for (i64 from = 0; from < d; from += TILE) {
        fill_tile(of_x, TILE, TILE, ROW, points_of(x, n, d), row, from, thread, TILE * TILE);
        fill_tile(of_y, TILE, TILE, ROW, points_of(y, m, d), column, from, thread, TILE * TILE);
        sync_block();
#pragma unroll
        for (u32 l = 0; l < TILE; l++) {
            f32 difference = of_x[down * ROW + l] - of_y[across * ROW + l];
            sum = fma_f32(difference, difference, sum);
        }
        sync_block();
    }
    if (row + down < n && column + across < m)
        out[(row + down) * m + column + across] = sum;
}
