/*
 * register_tiled.cu: each thread makes TM x TN distances in registers: TM + TN words from shared
 * memory serve TM * TN differences instead of two serving one. What is left is arithmetic, a
 * subtraction and a multiplication for each element of each pair; a difference is exact to its last
 * bit, so that near points get a distance as good as far ones do.
 */
// arch: sm_75
#include "points.h"
#define BM 128 // tune: 64 128
#define BN 128 // tune: 64 128
#define BK 8 // tune: 8 16
#define TM 8 // tune: 4 8
#define TN 8 // tune: 4 8
#define ACROSS (BN / TN) /* threads */
#define DOWN (BM / TM)
#define THREADS (ACROSS * DOWN)
#define ROW (BK + 1)

DEVICE void add_tiles(const f32 *of_x, const f32 *of_y, u32 across, u32 down, f32 sum[TM][TN])
{
#pragma unroll
    for (u32 l = 0; l < BK; l++) {
        f32 left[TM], right[TN];
#pragma unroll
        for (u32 t = 0; t < TM; t++)
            left[t] = of_x[(down + t * DOWN) * ROW + l];
#pragma unroll
        for (u32 t = 0; t < TN; t++)
            right[t] = of_y[(across + t * ACROSS) * ROW + l];
#pragma unroll
        for (u32 t = 0; t < TM * TN; t++) {
            f32 difference = left[t / TN] - right[t % TN];
            sum[t / TN][t % TN] = fma_f32(difference, difference, sum[t / TN][t % TN]);
        }
    }
}

KERNEL __launch_bounds__(THREADS)
    pairwise(const f32 *x, const f32 *y, f32 *out, i64 n, i64 m, i64 d)
{
    __shared__ f32 of_x[BM * ROW], of_y[BN * ROW];
    u32 thread = thread_x(), across = thread % ACROSS, down = thread / ACROSS;
    i64 row = (i64)block_x() * BM, column = (i64)block_y() * BN;
    f32 sum[TM][TN] = {{0}};
    for (i64 from = 0; from < d; from += BK) {
        fill_tile(of_x, BM, BK, ROW, points_of(x, n, d), row, from, thread, THREADS);
        fill_tile(of_y, BN, BK, ROW, points_of(y, m, d), column, from, thread, THREADS);
        sync_block();
        add_tiles(of_x, of_y, across, down, sum);
        sync_block();
    }
#pragma unroll
    for (u32 t = 0; t < TM * TN; t++) {
        i64 i = row + down + t / TN * DOWN, j = column + across + t % TN * ACROSS;
        if (i < n && j < m)
            out[i * m + j] = sum[t / TN][t % TN];
    }
}
