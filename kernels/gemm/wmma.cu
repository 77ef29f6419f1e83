/*
 * wmma.cu: the first step on tensor cores, in f16 with sums in f32, by CUDA's own names for them
 * (mma.h). A warp loads fragments of 16 x 16 elements from shared memory and multiplies two of them
 * at once: 4096 multiplications in one call, where a warp of pipelined.cu does 32 in an
 * instruction. Which thread holds which element is not ours to know, and load_matrix_sync takes no
 * more than a pitch: rows are padded against bank conflicts, and sums leave through shared memory.
 */
// arch: sm_80
#include "device.h"
#include <mma.h>
using namespace nvcuda;
#define BM 128
#define BN 128
#define BK 32
#define STAGES 3 // tune: 2 3 4
#define THREADS 256 /* 2 x 4 warps of 64 x 32 elements */
#define CHUNK 8     /* elements of 16 bytes */
#define A_PITCH (BK + 8)
#define B_PITCH (BN + 8)
#define A_SIZE (BM * A_PITCH) /* elements */
#define STAGE (A_SIZE + BK * B_PITCH)
#define C_PITCH (32 + 4) /* 16 x 32 sums of a warp on their way out */

/* Eight elements from (y, x) of a matrix; zeros outside of it. Where rows do not begin at multiples
 * of 16 bytes, element by element, past no asynchronous unit. */
template <bool WIDE>
static __device__ __forceinline__ void copy_chunk(half *to, const half *from, int rows, int columns,
                                                  int y, int x)
{
    const half *at = from + (long long)y * columns + x;
    if (WIDE) {
        bool inside = y < rows && x < columns;
        copy_async_16(to, inside ? at : from, inside ? 16 : 0);
    } else {
#pragma unroll
        for (int i = 0; i < CHUNK; i++)
            to[i] = y < rows && x + i < columns ? at[i] : __float2half(0);
    }
}

template <bool WIDE>
static __device__ __forceinline__ void copy_stage(half *stage, const half *a, const half *b, int m,
                                                  int n, int k, int row, int column, int step)
{
#pragma unroll
    for (int i = threadIdx.x; i < BM * BK / CHUNK; i += THREADS) {
        int y = i / (BK / CHUNK), x = i % (BK / CHUNK) * CHUNK;
        copy_chunk<WIDE>(stage + y * A_PITCH + x, a, m, k, row + y, step + x);
    }
#pragma unroll
    for (int i = threadIdx.x; i < BK * BN / CHUNK; i += THREADS) {
        int y = i / (BN / CHUNK), x = i % (BN / CHUNK) * CHUNK;
        copy_chunk<WIDE>(stage + A_SIZE + y * B_PITCH + x, b, k, n, step + y, column + x);
    }
    copy_async_commit();
}

typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums_16x16;

/* One stage, for the warp's 64 x 32 elements. */
static __device__ __forceinline__ void multiply_stage(sums_16x16 (&sums)[4][2], const half *stage,
                                                      int down, int across)
{
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a[4];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b[2];
#pragma unroll
        for (int i = 0; i < 4; i++)
            wmma::load_matrix_sync(of_a[i], stage + (down + i * 16) * A_PITCH + k, A_PITCH);
#pragma unroll
        for (int j = 0; j < 2; j++)
            wmma::load_matrix_sync(of_b[j], stage + A_SIZE + k * B_PITCH + across + j * 16,
                                   B_PITCH);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 2; j++)
                wmma::mma_sync(sums[i][j], of_a[i], of_b[j], sums[i][j]);
    }
}

/* 16 x 32 sums, from (row, column) of C, through the warp's own part of shared memory. */
template <bool WIDE>
static __device__ __forceinline__ void store_sums(half *c, int m, int n, int row, int column,
                                                  float *slab, const sums_16x16 (&sums)[2])
{
    wmma::store_matrix_sync(slab, sums[0], C_PITCH, wmma::mem_row_major);
    wmma::store_matrix_sync(slab + 16, sums[1], C_PITCH, wmma::mem_row_major);
    __syncwarp();
#pragma unroll
    for (int i = threadIdx.x % 32; i < 16 * 32 / CHUNK; i += 32) {
        int y = i / 4, x = i % 4 * CHUNK;
        __align__(16) half eight[CHUNK];
#pragma unroll
        for (int j = 0; j < CHUNK; j++)
            eight[j] = __float2half(slab[y * C_PITCH + x + j]);
        half *at = c + (long long)(row + y) * n + column + x;
        if (WIDE && row + y < m && column + x < n)
            *(uint4 *)at = *(const uint4 *)eight;
#pragma unroll
        for (int j = 0; !WIDE && j < CHUNK; j++)
            if (row + y < m && column + x + j < n)
                at[j] = eight[j];
    }
    __syncwarp();
}

template <bool WIDE>
static __device__ __forceinline__ void gemm(const half *a, const half *b, half *c, int m, int n,
                                            int k)
{
    extern __shared__ __align__(128) half stages[]; // [STAGES][STAGE]
    int warp = threadIdx.x / 32, down = warp / 4 * 64, across = warp % 4 * 32;
    int row = (int)blockIdx.x * BM, column = (int)blockIdx.y * BN;
    sums_16x16 sums[4][2];
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(sums[i][j], 0.0f);
    for (int i = 0; i < STAGES - 1; i++)
        copy_stage<WIDE>(stages + i * STAGE, a, b, m, n, k, row, column, i * BK);
    for (int step = 0, at = 0; step < k; step += BK, at = (at + 1) % STAGES) {
        copy_async_wait(STAGES - 2);
        __syncthreads(); /* the stage is here, and the one before it is free */
        copy_stage<WIDE>(stages + (at + STAGES - 1) % STAGES * STAGE, a, b, m, n, k, row, column,
                         step + (STAGES - 1) * BK);
        multiply_stage(sums, stages + at * STAGE, down, across);
    }
    copy_async_wait(0);
    __syncthreads(); /* before the stages are overwritten */
#pragma unroll
    for (int i = 0; i < 4; i++)
        store_sums<WIDE>(c, m, n, row + down + i * 16, column + across,
                         (float *)stages + warp * 16 * C_PITCH, sums[i]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_wide(const half *a, const half *b, half *c, int m, int n, int k)
{
    gemm<true>(a, b, c, m, n, k);
}
extern "C" __global__ void __launch_bounds__(THREADS)
gemm_any(const half *a, const half *b, half *c, int m, int n, int k)
{
    gemm<false>(a, b, c, m, n, k);
}
