/*
 * bands.h: sums of columns in two steps, in an order that never changes: blocks sum bands of rows,
 * each on its way, into parts [bands][cols]; then add_bands sums the bands.
 */
#ifndef LOCKSTEP_KERNELS_BANDS_H
#define LOCKSTEP_KERNELS_BANDS_H

#include "rows.h"

/* A thread's sums of N neighbouring columns, to a place at a multiple of 16 bytes where N is: number by
 * number a warp would touch N times as many sectors. */
template <int N> static __device__ __forceinline__ void store_part(float *to, const float (&sum)[N])
{
    if constexpr (N % 4 == 0) {
#pragma unroll
        for (int k = 0; k < N; k += 4)
            *(float4 *)(to + k) = make_float4(sum[k], sum[k + 1], sum[k + 2], sum[k + 3]);
    } else {
#pragma unroll
        for (int k = 0; k < N; k++)
            to[k] = sum[k];
    }
}

/* 32 columns for a block, of 16 warps that take every 16th band. */
template <class T>
static __device__ __forceinline__ void add_bands(const float *parts, T *out, long long cols,
                                                 int bands)
{
    __shared__ float of_warp[16][32];
    long long column = blockIdx.x * 32 + threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float sum = 0;
    wait_for_kernels_before();
    if (column < cols)
#pragma unroll 4
        for (int band = warp; band < bands; band += 16)
            sum += parts[band * cols + column];
    of_warp[warp][threadIdx.x % 32] = sum;
    __syncthreads();
    if (warp > 0 || column >= cols)
        return;
    for (int k = 1; k < 16; k++)
        sum += of_warp[k][threadIdx.x];
    narrow(sum, &out[column]);
}
#define ADD_BANDS(name, T)                                                                         \
    extern "C" __global__ void __launch_bounds__(512)                                              \
        name(const float *parts, T *out, long long cols, int bands)                                \
    {                                                                                              \
        add_bands(parts, out, cols, bands);                                                        \
    }

#endif
