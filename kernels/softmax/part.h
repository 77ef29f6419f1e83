/*
 * part.h: what is known about a part of a row, a lane's, a warp's or a block's: its largest value,
 * and the sum of 2^(factor (value - largest)) over it. Two parts become one as online.cu shows.
 * `factor` is log2 e times the scale, since exp(x) is 2^(x log2 e).
 */
#ifndef LOCKSTEP_SOFTMAX_PART_H
#define LOCKSTEP_SOFTMAX_PART_H

#include "powers.h"

struct part {
    float most, sum;
};

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

/* The sum of powers of what a thread holds, in two chains. */
template <class T, int V, bool EXACT>
static __device__ __forceinline__ float add_powers(const uint4 (&v)[V], exponents e)
{
    float sum[2] = {0, 0}, x[PER<T>];
#pragma unroll
    for (int k = 0; k < V; k++) {
        widen_all<T>(v[k], x);
#pragma unroll
        for (int i = 0; i < PER<T>; i++)
            sum[i % 2] += power<EXACT>(e, x[i]);
    }
    return sum[0] + sum[1];
}

/* Of what `lanes` neighbours hold, at most a warp. Afterwards v is only words again. */
template <class T, int V>
static __device__ __forceinline__ part measure_vectors(uint4 (&v)[V], float factor, unsigned lanes)
{
    float most = max_lanes(largest<T, V>(v), lanes);
    exponents e = exponents_from(most, factor);
    float sum = e.exact ? add_powers<T, V, true>(v, e) : add_powers<T, V, false>(v, e);
    only_words(v);
    return part{most, sum_lanes(sum, lanes) * e.correction};
}

/* And what becomes of a vector: share is one over the row's sum. */
template <class T, bool EXACT>
static __device__ __forceinline__ void multiply_powers(float (&x)[PER<T>], exponents e, float share)
{
#pragma unroll
    for (int i = 0; i < PER<T>; i++)
        x[i] = power<EXACT>(e, x[i]) * share;
}
template <class T>
static __device__ __forceinline__ void probabilities(float (&x)[PER<T>], exponents e, float share)
{
    share *= e.correction;
    if (e.exact)
        multiply_powers<T, true>(x, e, share);
    else
        multiply_powers<T, false>(x, e, share);
}
/* Plain rows of bf16. */
static __device__ __forceinline__ uint4 softmax_vector(uint4 v, exponents e, float share)
{
    float x[8];
    widen_all<bf16>(v, x);
    probabilities<bf16>(x, e, share);
    return narrow_all<bf16>(x);
}

#endif
