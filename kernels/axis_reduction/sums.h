/*
 * sums.h: sums that more than one variant needs: of lanes, of a block, of a thread's share of a row,
 * and of a block's columns. BLOCK is the number of threads, UNROLL the loads that a thread keeps in
 * flight.
 */
#ifndef LOCKSTEP_AXIS_REDUCTION_SUMS_H
#define LOCKSTEP_AXIS_REDUCTION_SUMS_H

#include "device.h"

/* Over groups of `lanes` neighbours, a power of two; every lane gets its group's. */
static __device__ __forceinline__ float sum_lanes(float sum, unsigned lanes)
{
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    return sum;
}

/* Thread 0 gets the whole block's. */
static __device__ __forceinline__ float sum_block(float sum)
{
    __shared__ float of_warp[32];
    unsigned thread = threadIdx.x, warps = blockDim.x / 32;
    sum = sum_lanes(sum, 32);
    if (thread % 32 == 0)
        of_warp[thread / 32] = sum;
    __syncthreads();
    return thread < 32 ? sum_lanes(thread < warps ? of_warp[thread] : 0, 32) : 0;
}

static __device__ float add(float a, float b)
{
    return a + b;
}
static __device__ float4 add(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* The share of thread `me` of `all` in the sum of `count` neighbours: 16-byte loads between the
 * first boundary and the last, wherever they lie. */
template <int UNROLL>
static __device__ __forceinline__ float sum_share(const float *at, long long count, unsigned me,
                                                  unsigned all)
{
    long long head = min(count, (long long)((16 - (size_t)at % 16) % 16 / 4));
    long long vectors = (count - head) / 4;
    const float4 *body = (const float4 *)(at + head);
    float ends = 0;
#pragma unroll 1
    for (long long i = me; i < head; i += all)
        ends += at[i];
#pragma unroll 1
    for (long long i = head + vectors * 4 + me; i < count; i += all)
        ends += at[i];
    float4 zero = make_float4(0, 0, 0, 0), sum = make_float4(ends, 0, 0, 0);
    for (long long i = me; i < vectors; i += UNROLL * all) {
        float4 v[UNROLL];
#pragma unroll
        for (unsigned k = 0; k < UNROLL; k++)
            v[k] = i + k * all < vectors ? load_stream(body + i + k * all) : zero;
#pragma unroll
        for (unsigned k = 0; k < UNROLL; k++)
            sum = add(sum, v[k]);
    }
    return (sum.x + sum.y) + (sum.z + sum.w);
}

/* Rows [from, to) of a plane [..][inner], from column `first` on; V is float, or float4 for four
 * neighbouring columns a lane. A warp covers the columns of `wide` lanes, and as many rows as it
 * then has lanes for: narrow planes keep it busy too. The first `wide` threads get the sums of
 * their columns. */
template <class V, int BLOCK, int UNROLL>
static __device__ __forceinline__ V sum_columns(const float *plane, long long from, long long to,
                                                long long inner, long long first, unsigned wide)
{
    __shared__ V part[BLOCK];
    const unsigned width = sizeof(V) / sizeof(float);
    unsigned thread = threadIdx.x, lane = thread % 32, rows = 32 / wide, step = BLOCK / 32 * rows;
    long long column = first + lane % wide * width;
    long long row = from + thread / 32 * rows + lane / wide;
    const float *at = plane + column;
    V zero = {}, sum = zero;
    if (lane / wide >= rows || column >= inner)
        row = to;
    for (; row < to; row += UNROLL * step) {
        V v[UNROLL];
#pragma unroll
        for (unsigned k = 0; k < UNROLL; k++)
            v[k] = row + k * step < to ? load_stream((const V *)(at + (row + k * step) * inner))
                                       : zero;
#pragma unroll
        for (unsigned k = 0; k < UNROLL; k++)
            sum = add(sum, v[k]);
    }
    part[thread] = sum;
    __syncthreads();
    if (thread >= wide)
        return sum;
    for (unsigned warp = 0; warp < BLOCK / 32; warp++)
        for (unsigned k = 0; k < rows; k++)
            if (warp + k > 0)
                sum = add(sum, part[warp * 32 + k * wide + thread]);
    return sum;
}

/* The sums of a lane's columns, `step` apart. */
static __device__ void store(float *to, long long step, float sum)
{
    to[0] = sum;
}
static __device__ void store(float *to, long long step, float4 sum)
{
    to[0] = sum.x;
    to[step] = sum.y;
    to[2 * step] = sum.z;
    to[3 * step] = sum.w;
}

#endif
