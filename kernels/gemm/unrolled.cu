/*
 * unrolled.cu: double_buffered.cu with less around its multiplications. The loop makes two tiles a
 * turn, so that it is known at compile time which buffer is read and which is written, and every
 * shared address is a constant away from one register. Tiles that are whole come without checks
 * (chunks.h); the last ones, which may not be, have a loop of their own.
 */
// arch: sm_75
#include "wide.h"
#define BM 128 // tune: 64 128
#define BN 128 // tune: 64 128
#define BK 8 // tune: 8 16
#define TM 8 // tune: 4 8
#define TN 8 // tune: 4 8
#define ACROSS (BN / TN) /* threads */
#define DOWN (BM / TM)
#define THREADS (ACROSS * DOWN)
/* blocks on an SM, at 128 registers a thread */
#define RESIDENT (THREADS < 512 ? 512 / THREADS : 1)
#define ROW (BM + 4) /* of the transposed tile: the four stores of a chunk meet different banks */
#include "chunks.h"

static __device__ __forceinline__ void multiply_tiles(const float a_tile[BK][ROW],
                                                      const float b_tile[BK][BN], unsigned x,
                                                      unsigned y, float sum[TM][TN])
{
#pragma unroll
    for (int l = 0; l < BK; l++) {
        __align__(16) float of_a[TM], of_b[TN];
#pragma unroll
        for (int i = 0; i < TM; i += 4)
            *(float4 *)&of_a[i] = *(const float4 *)&a_tile[l][y * 4 + i * DOWN];
#pragma unroll
        for (int j = 0; j < TN; j += 4)
            *(float4 *)&of_b[j] = *(const float4 *)&b_tile[l][x * 4 + j * ACROSS];
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++)
                sum[i][j] = fmaf(of_a[i], of_b[j], sum[i][j]);
    }
}

template <bool WIDE>
static __device__ __forceinline__ void multiply(matrix a, matrix b, float *c)
{
    __shared__ __align__(16) float a_tile[2][BK][ROW], b_tile[2][BK][BN];
    unsigned x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS, left = a.columns;
    long long row = (long long)blockIdx.x * BM, column = (long long)blockIdx.y * BN;
    loader from = loader_of(a, b, row, column);
    float sum[TM][TN] = {};
    chunks next;
    load_chunks<WIDE, false>(&next, &from, left);
    store_chunks(&next, a_tile[0], b_tile[0]);
    __syncthreads();
    /* The tile in buffer 0 and the next two are whole. */
    for (; left >= 3 * BK; left -= 2 * BK) {
        load_chunks<WIDE, true>(&next, &from, BK);
        multiply_tiles(a_tile[0], b_tile[0], x, y, sum);
        store_chunks(&next, a_tile[1], b_tile[1]);
        __syncthreads();
        load_chunks<WIDE, true>(&next, &from, BK);
        multiply_tiles(a_tile[1], b_tile[1], x, y, sum);
        store_chunks(&next, a_tile[0], b_tile[0]);
        __syncthreads();
    }
    /* The last three, or fewer. */
    for (unsigned now = 0; left > 0; left -= min(left, BK), now ^= 1) {
        if (left > BK)
            load_chunks<WIDE, false>(&next, &from, left - BK);
        multiply_tiles(a_tile[now], b_tile[now], x, y, sum);
        if (left > BK)
            store_chunks(&next, a_tile[now ^ 1], b_tile[now ^ 1]);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j += 4)
            store_four<WIDE>(c, a.rows, b.columns, row + (y + i / 4 * DOWN) * 4 + i % 4,
                             column + x * 4 + j * ACROSS, &sum[i][j]);
}

/* All matrices and all their rows begin at multiples of 16 bytes. */
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
gemm_wide(const float *a, const float *b, float *c, long long m, long long n, long long k)
{
    multiply<true>({a, m, k}, {b, k, n}, c);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
gemm_any(const float *a, const float *b, float *c, long long m, long long n, long long k)
{
    multiply<false>({a, m, k}, {b, k, n}, c);
}
