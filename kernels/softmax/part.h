/*
 * part.h: what is known about a part of a row, a lane's, a warp's or a block's: its largest value,
 * and the sum of 2^(factor (value - largest)) over it. Two parts become one as online.cu shows.
 * `factor` is log2 e times the scale, since exp(x) is 2^(x log2 e).
 */
#ifndef LOCKSTEP_SOFTMAX_PART_H
#define LOCKSTEP_SOFTMAX_PART_H

#include "rows.h"

struct part {
    float most, sum;
};

/* Minus infinity cannot be subtracted from itself. */
static __device__ __forceinline__ float base(float most)
{
    return most == -INFINITY ? 0 : most;
}

/* A part's sum, relative to another largest value. A part of minus infinity alone has nothing to
 * add, unless it met NaN. */
static __device__ __forceinline__ float relative_to(float most, part p, float factor)
{
    return p.most == -INFINITY ? p.sum : p.sum * power_of_two((p.most - most) * factor);
}

/* Every lane of the group gets its part; all lanes of the warp take part. */
static __device__ __forceinline__ part merge_lanes(part p, float factor, unsigned lanes)
{
    float most = max_lanes(p.most, lanes);
    return part{most, sum_lanes(relative_to(most, p, factor), lanes)};
}

/* Of a block of whole warps: each thread brings its warp's, and gets the block's. One barrier. */
static __device__ __forceinline__ part merge_warps(part p, float factor, part *of_warp)
{
    unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
    if (lane == 0)
        of_warp[threadIdx.x / 32] = p;
    __syncthreads();
    p = lane < warps ? of_warp[lane] : part{-INFINITY, 0};
    return merge_lanes(p, factor, 32);
}

/* Plain rows of bf16: of what the lanes of a warp hold, VECTORS vectors each. */
template <int VECTORS>
static __device__ __forceinline__ part measure_vectors(const uint4 (&v)[VECTORS], float factor)
{
    float x[8], most = -INFINITY, sum = 0;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        widen_all<bf16>(v[k], x);
        for (int i = 0; i < 8; i++)
            most = fmaxf(most, x[i]);
    }
    most = max_lanes(most, 32);
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        widen_all<bf16>(v[k], x);
        for (int i = 0; i < 8; i++)
            sum += power_of_two((x[i] - base(most)) * factor);
    }
    return part{most, sum_lanes(sum, 32)};
}

/* And what becomes of a vector. */
static __device__ __forceinline__ uint4 softmax_vector(uint4 v, float most, float factor,
                                                       float share)
{
    float x[8];
    widen_all<bf16>(v, x);
    for (int i = 0; i < 8; i++)
        x[i] = power_of_two((x[i] - most) * factor) * share;
    return narrow_all<bf16>(x);
}

#endif
