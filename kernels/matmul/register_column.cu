/*
 * register_column.cu: each thread makes TM elements of C, one below the other, in registers. An
 * element of B that came from shared memory now serves TM multiplications: (TM + 1) / TM loads for
 * each instead of two.
 */
// arch: sm_75
#include "tile.h"
#define BM 64 // tune: 32 64 128
#define BN 64 // tune: 32 64 128
#define BK 8 // tune: 8 16 32
#define TM 8 // tune: 4 8 16
#define THREADS (BM / TM * BN)

KERNEL __launch_bounds__(THREADS) matmul(const f32 *a, const f32 *b, f32 *c, i64 m, i64 n, i64 k)
{
    __shared__ f32 of_a[BM * BK], of_b[BK * BN];
    u32 thread = thread_x(), x = thread % BN, y = thread / BN * TM;
    i64 row = (i64)block_x() * BM, column = (i64)block_y() * BN;
    f32 sum[TM] = {0};
    for (i64 from = 0; from < k; from += BK) {
        fill_tile(of_a, BM, BK, matrix_of(a, m, k), row, from, thread, THREADS);
        fill_tile(of_b, BK, BN, matrix_of(b, k, n), from, column, thread, THREADS);
        sync_block();
#pragma unroll
        for (u32 i = 0; i < BK; i++) {
            f32 right = of_b[i * BN + x];
#pragma unroll
            for (u32 t = 0; t < TM; t++)
                sum[t] = fma_f32(of_a[(y + t) * BK + i], right, sum[t]);
        }
        sync_block();
    }
#pragma unroll
    for (u32 t = 0; t < TM; t++)
        if (row + y + t < m && column + x < n)
            c[(row + y + t) * n + column + x] = sum[t];
}
