/*
 * register_tiled.cu: each thread makes TM x TN elements of C: TM elements of A and TN of B serve
 * TM * TN multiplications, 16 words for 64 instead of 72. A thread's elements lie as far apart as
 * the block has threads, so that neighbouring threads read neighbouring words: no bank conflicts.
 */
// arch: sm_75
#include "tile.h"
#define BM 128 // tune: 64 128
#define BN 128 // tune: 64 128
#define BK 8 // tune: 8 16
#define TM 8 // tune: 4 8
#define TN 8 // tune: 4 8
#define ACROSS (BN / TN) /* threads */
#define DOWN (BM / TM)
#define THREADS (ACROSS * DOWN)

DEVICE void multiply_tiles(const f32 *of_a, const f32 *of_b, u32 x, u32 y, f32 sum[TM][TN])
{
#pragma unroll
    for (u32 i = 0; i < BK; i++) {
        f32 left[TM], right[TN];
#pragma unroll
        for (u32 t = 0; t < TM; t++)
            left[t] = of_a[(y + t * DOWN) * BK + i];
#pragma unroll
        for (u32 t = 0; t < TN; t++)
            right[t] = of_b[i * BN + x + t * ACROSS];
#pragma unroll
        for (u32 t = 0; t < TM * TN; t++)
            sum[t / TN][t % TN] = fma_f32(left[t / TN], right[t % TN], sum[t / TN][t % TN]);
    }
}

KERNEL __launch_bounds__(THREADS) matmul(const f32 *a, const f32 *b, f32 *c, i64 m, i64 n, i64 k)
{
    __shared__ f32 of_a[BM * BK], of_b[BK * BN];
    u32 thread = thread_x(), x = thread % ACROSS, y = thread / ACROSS;
    i64 row = (i64)block_x() * BM, column = (i64)block_y() * BN;
    f32 sum[TM][TN] = {{0}};
    for (i64 from = 0; from < k; from += BK) {
        fill_tile(of_a, BM, BK, matrix_of(a, m, k), row, from, thread, THREADS);
        fill_tile(of_b, BK, BN, matrix_of(b, k, n), from, column, thread, THREADS);
        sync_block();
        multiply_tiles(of_a, of_b, x, y, sum);
        sync_block();
    }
#pragma unroll
    for (u32 i = 0; i < TM; i++)
#pragma unroll
        for (u32 j = 0; j < TN; j++) {
            i64 down = row + y + i * DOWN, across = column + x + j * ACROSS;
            if (down < m && across < n)
                c[down * n + across] = sum[i][j];
        }
}
