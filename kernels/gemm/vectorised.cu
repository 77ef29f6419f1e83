/*
 * vectorised.cu: register_tiled.cu with 16-byte accesses everywhere: global loads and stores and,
 * because the tile of A lies transposed in shared memory, both operands of the multiplication: 4
 * loads for 64 multiplications where there were 16. A thread's rows and columns come in groups of
 * four; the groups lie as far apart as all threads together reach.
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

/* Fills the tiles chunk by chunk, four neighbours at a time. */
template <bool WIDE>
static __device__ __forceinline__ void load_tiles(float a_tile[BK][ROW], float b_tile[BK][BN],
                                                  matrix a, matrix b, long long row,
                                                  long long column, long long from)
{
#pragma unroll
    for (unsigned chunk = threadIdx.x; chunk < BM * BK / 4; chunk += THREADS) {
        unsigned y = chunk / (BK / 4), l = chunk % (BK / 4) * 4;
        float4 four = load_four<WIDE>(a, row + y, from + l);
        a_tile[l][y] = four.x; /* transposed */
        a_tile[l + 1][y] = four.y;
        a_tile[l + 2][y] = four.z;
        a_tile[l + 3][y] = four.w;
    }
#pragma unroll
    for (unsigned chunk = threadIdx.x; chunk < BK * BN / 4; chunk += THREADS) {
        unsigned l = chunk / (BN / 4), x = chunk % (BN / 4) * 4;
        *(float4 *)&b_tile[l][x] = load_four<WIDE>(b, from + l, column + x);
    }
}

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
    __shared__ __align__(16) float a_tile[BK][ROW], b_tile[BK][BN];
    unsigned x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
    long long row = (long long)blockIdx.x * BM, column = (long long)blockIdx.y * BN;
    float sum[TM][TN] = {};
    for (long long from = 0; from < a.columns; from += BK) {
        load_tiles<WIDE>(a_tile, b_tile, a, b, row, column, from);
        __syncthreads();
        multiply_tiles(a_tile, b_tile, x, y, sum);
        __syncthreads(); /* before the tiles are overwritten */
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
