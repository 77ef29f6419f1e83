/*
 * double_buffered.cu: vectorised.cu with two buffers for each tile. While one tile is multiplied
 * the next is on its way in registers, so that nothing waits for global memory; it is stored to the
 * other buffer, which nobody reads any more, and one barrier per tile is enough.
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
#define A_CHUNKS (BM * BK / 4) /* of 4 elements, in a tile */
#define B_CHUNKS (BK * BN / 4)

/* What a thread loads of the next tiles: every THREADS-th chunk. */
struct chunks {
    float4 a[(A_CHUNKS + THREADS - 1) / THREADS], b[(B_CHUNKS + THREADS - 1) / THREADS];
};

template <bool WIDE>
static __device__ __forceinline__ void load_chunks(chunks *next, matrix a, matrix b, long long row,
                                                   long long column, long long from)
{
#pragma unroll
    for (unsigned t = 0; t * THREADS < A_CHUNKS; t++) {
        unsigned chunk = threadIdx.x + t * THREADS;
        if (A_CHUNKS % THREADS == 0 || chunk < A_CHUNKS)
            next->a[t] =
                load_four<WIDE>(a, row + chunk / (BK / 4), from + chunk % (BK / 4) * 4);
    }
#pragma unroll
    for (unsigned t = 0; t * THREADS < B_CHUNKS; t++) {
        unsigned chunk = threadIdx.x + t * THREADS;
        if (B_CHUNKS % THREADS == 0 || chunk < B_CHUNKS)
            next->b[t] =
                load_four<WIDE>(b, from + chunk / (BN / 4), column + chunk % (BN / 4) * 4);
    }
}

static __device__ __forceinline__ void store_chunks(const chunks *next, float a_tile[BK][ROW],
                                                    float b_tile[BK][BN])
{
#pragma unroll
    for (unsigned t = 0; t * THREADS < A_CHUNKS; t++) {
        unsigned chunk = threadIdx.x + t * THREADS;
        unsigned row = chunk / (BK / 4), l = chunk % (BK / 4) * 4;
        if (A_CHUNKS % THREADS != 0 && chunk >= A_CHUNKS)
            continue;
        a_tile[l][row] = next->a[t].x; /* transposed */
        a_tile[l + 1][row] = next->a[t].y;
        a_tile[l + 2][row] = next->a[t].z;
        a_tile[l + 3][row] = next->a[t].w;
    }
#pragma unroll
    for (unsigned t = 0; t * THREADS < B_CHUNKS; t++) {
        unsigned chunk = threadIdx.x + t * THREADS;
        if (B_CHUNKS % THREADS == 0 || chunk < B_CHUNKS)
            *(float4 *)&b_tile[chunk / (BN / 4)][chunk % (BN / 4) * 4] = next->b[t];
    }
}

/* A thread's rows and columns are groups of four; the groups lie as far apart as all threads
 * together reach. */
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
    unsigned x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
    long long row = (long long)blockIdx.x * BM, column = (long long)blockIdx.y * BN;
    long long k = a.columns;
    float sum[TM][TN] = {};
    chunks next;
    load_chunks<WIDE>(&next, a, b, row, column, 0);
    store_chunks(&next, a_tile[0], b_tile[0]);
    __syncthreads();
    unsigned now = 0;
    for (long long from = 0; from < k; from += BK, now ^= 1) {
        bool more = from + BK < k;
        if (more)
            load_chunks<WIDE>(&next, a, b, row, column, from + BK);
        multiply_tiles(a_tile[now], b_tile[now], x, y, sum);
        if (more)
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
