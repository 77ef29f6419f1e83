/*
 * quantise.h: the second kernel of a product whose D is quantised with scales for whole rows (or
 * for 128 columns that a gate has made of 256): no tile sees all of a row, so the product is stored
 * in f32, and this kernel finds the largest number of each row, or of 128 columns, and stores e4m3.
 * A block takes a row.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_QUANTISE_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_QUANTISE_H

#include "scaled.h"

#define QUANTISE_THREADS 256

/* kernels/gemm_scaled/host/plan.c fills this: keep both alike. */
struct quantise_arguments {
    const void *from; /* floats: [batch][m][n] */
    void *out, *scale_out;
    long long out_row, out_stride;
    int m, n, batch, by_blocks;
};

static __device__ __forceinline__ float largest_of_warp(float x)
{
    for (int i = 16; i > 0; i /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, i));
    return x;
}

/* 128 columns by a warp. */
static __device__ __forceinline__ void quantise_block(const float *from, unsigned char *to,
                                                      float *scale, int count)
{
    int lane = threadIdx.x % 32;
    float x[4], largest = 0;
    for (int i = 0; i < 4; i++) {
        x[i] = lane + 32 * i < count ? from[lane + 32 * i] : 0;
        largest = fmaxf(largest, fabsf(x[i]));
    }
    quantiser q = quantiser_of(largest_of_warp(largest));
    for (int i = 0; i < 4; i++)
        if (lane + 32 * i < count)
            to[lane + 32 * i] = (unsigned char)pack_e4m3(x[i] * q.factor, 0);
    if (lane == 0)
        *scale = q.scale;
}

static __device__ __forceinline__ void quantise_row(const float *from, unsigned char *to,
                                                    float *scale, int count)
{
    __shared__ float of_warps[QUANTISE_THREADS / 32];
    float largest = 0;
    for (int i = threadIdx.x; i < count; i += QUANTISE_THREADS)
        largest = fmaxf(largest, fabsf(from[i]));
    largest = largest_of_warp(largest);
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = largest;
    __syncthreads();
    for (int i = 0; i < QUANTISE_THREADS / 32; i++)
        largest = fmaxf(largest, of_warps[i]);
    quantiser q = quantiser_of(largest);
    for (int i = threadIdx.x; i < count; i += QUANTISE_THREADS)
        to[i] = (unsigned char)pack_e4m3(from[i] * q.factor, 0);
    if (threadIdx.x == 0)
        *scale = q.scale;
    __syncthreads(); /* of_warps has been read */
}

extern "C" __global__ void __launch_bounds__(QUANTISE_THREADS)
    quantise(const __grid_constant__ quantise_arguments g)
{
    for (int matrix = blockIdx.y; matrix < g.batch; matrix += gridDim.y) {
        long long row = (long long)matrix * g.m + blockIdx.x;
        const float *from = (const float *)g.from + row * g.n;
        unsigned char *to = (unsigned char *)g.out + matrix * g.out_stride + blockIdx.x * g.out_row;
        float *scales = (float *)g.scale_out;
        if (!g.by_blocks) {
            quantise_row(from, to, scales + row, g.n);
            continue;
        }
        scales += (long long)matrix * blocks_of(g.n) * g.m + blockIdx.x;
        for (int block = threadIdx.x / 32; block < blocks_of(g.n); block += QUANTISE_THREADS / 32)
            quantise_block(from + block * SCALE_BLOCK, to + block * SCALE_BLOCK,
                           scales + (long long)block * g.m,
                           smaller(g.n - block * SCALE_BLOCK, SCALE_BLOCK));
    }
}

#endif
