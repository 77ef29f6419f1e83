/*
 * bands.h: sums of columns in two steps, in an order that never changes: blocks sum bands of rows,
 * each on its way, into parts [bands][cols]; then add_bands sums the bands.
 */
#ifndef LOCKSTEP_KERNELS_BANDS_H
#define LOCKSTEP_KERNELS_BANDS_H

#include "rows.h"

/* 32 columns for a block, of 16 warps that take every 16th band. */
template <class T>
static __device__ __forceinline__ void add_bands(const float *parts, T *out, long long cols,
                                                 int bands)
{
    __shared__ float of_warp[16][32];
    long long column = blockIdx.x * 32 + threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float sum = 0;
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
