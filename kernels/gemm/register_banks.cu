/*
 * register_banks.cu: warp_tiled.cu with twice as many sums a thread, 8 x 16, and its
 * multiplications in another order. A multiplication reads three registers. They lie in two banks,
 * by even and odd numbers, and three from one bank take a cycle more; but what the multiplication
 * before it read in the same place is still at hand. So every multiplication shares a factor with
 * the one before it: two rows of sums at a time, down one column of them and up the next, and the
 * following two rows backwards. The compiler then places sums and factors so that 1 in 75
 * multiplications waits, and not 1 in 10.
 */
// arch: sm_75
#include "wide.h"
#define BM 128 // tune: 64 128
#define BN 128 // tune: 64 128
#define BK 8 // tune: 8 16
#define TM 8 // tune: 4 8
#define TN 16 // tune: 8 16
#define THREADS (BM / TM * (BN / TN))
#define WARPS_ACROSS (BN / (4 * TN))
/* threads on an SM: of its 65536 registers each has 255, or 128 where it has fewer sums */
#define AT_ONCE (TM * TN > 64 ? 256 : 512)
#define RESIDENT (THREADS < AT_ONCE ? AT_ONCE / THREADS : 1)
#define ROW (BM + 4) /* of the transposed tile: the four stores of a chunk meet different banks */
#include "chunks.h"

/* A thread's groups of four rows lie 8 groups apart, those of four columns 4. */
static __device__ __forceinline__ void multiply_tiles(const float a_tile[BK][ROW],
                                                      const float b_tile[BK][BN], unsigned down,
                                                      unsigned across, float sum[TM][TN])
{
#pragma unroll
    for (int l = 0; l < BK; l++) {
        __align__(16) float of_a[TM], of_b[TN];
#pragma unroll
        for (int i = 0; i < TM; i += 4)
            *(float4 *)&of_a[i] = *(const float4 *)&a_tile[l][down + i * 8];
#pragma unroll
        for (int j = 0; j < TN; j += 4)
            *(float4 *)&of_b[j] = *(const float4 *)&b_tile[l][across + j * 4];
#pragma unroll
        for (int pair = 0; pair < TM; pair += 2)
#pragma unroll
            for (int step = 0; step < 2 * TN; step++) {
                int i = pair + (step + step / 2) % 2;
                int j = pair / 2 % 2 ? TN - 1 - step / 2 : step / 2;
                sum[i][j] = fmaf(of_a[i], of_b[j], sum[i][j]);
            }
    }
}

template <bool WIDE>
static __device__ __forceinline__ void multiply(matrix a, matrix b, float *c)
{
    __shared__ __align__(16) float a_tile[2][BK][ROW], b_tile[2][BK][BN];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, left = a.columns;
    unsigned down = warp / WARPS_ACROSS * (8 * TM) + lane / 2 % 8 * 4;
    unsigned across = warp % WARPS_ACROSS * (4 * TN) + (lane % 2 + lane / 16 * 2) * 4;
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
        multiply_tiles(a_tile[0], b_tile[0], down, across, sum);
        store_chunks(&next, a_tile[1], b_tile[1]);
        __syncthreads();
        load_chunks<WIDE, true>(&next, &from, BK);
        multiply_tiles(a_tile[1], b_tile[1], down, across, sum);
        store_chunks(&next, a_tile[0], b_tile[0]);
        __syncthreads();
    }
    /* The last three, or fewer. */
    for (unsigned now = 0; left > 0; left -= min(left, BK), now ^= 1) {
        if (left > BK)
            load_chunks<WIDE, false>(&next, &from, left - BK);
        multiply_tiles(a_tile[now], b_tile[now], down, across, sum);
        if (left > BK)
            store_chunks(&next, a_tile[now ^ 1], b_tile[now ^ 1]);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j += 4)
            store_four<WIDE>(c, a.rows, b.columns, row + down + i / 4 * 32 + i % 4,
                             column + across + j * 4, &sum[i][j]);
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
