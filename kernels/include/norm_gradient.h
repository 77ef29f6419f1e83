/*
 * norm_gradient.h: what the backward kernels of rmsnorm and layernorm share. With h = (x - mean)
 * rstd (rmsnorm: x rstd) and w = dy gamma:
 *
 *   dx     = rstd (w - mean(w) - h mean(w h)), without mean(w) in rmsnorm; + dsum, if there is one
 *   dgamma = sum over the rows of dy h         dbeta = sum over the rows of dy
 *
 * Columns are added up in two steps, in an order that never changes: partial sums of some rows
 * each, then the sum of those (add_up).
 */
#ifndef LOCKSTEP_KERNELS_NORM_GRADIENT_H
#define LOCKSTEP_KERNELS_NORM_GRADIENT_H

#include "norm.h"

#define GRADIENT_ARGUMENTS(T)                                                                      \
    const T *x, const T *gamma, const T *dy, const T *dsum, const float *stats, T *dx,             \
        float *partial, long long rows, long long cols, int has, int whole
#define GRADIENT(T)                                                                                \
    gradient_job<T>                                                                                \
    {                                                                                              \
        x, gamma, dy, dsum, stats, dx, partial, rows, cols, has, whole != 0                        \
    }

template <class T> struct gradient_job {
    const T *x;         // [rows][cols]: what was normalised
    const T *gamma;     // [cols]
    const T *dy, *dsum; // [rows][cols]
    const float *stats; // as forward wrote them
    T *dx;              // [rows][cols]
    float *partial;     // [parts][cols] of dgamma; LAYER: then [parts][cols] of dbeta
    long long rows, cols;
    int has;
    bool whole;
};

struct row_stats {
    float mean, rstd;
};
template <class T, bool LAYER>
static __device__ __forceinline__ row_stats stats_of(gradient_job<T> a, long long row)
{
    return row_stats{LAYER ? a.stats[row] : 0, a.stats[row + (LAYER ? a.rows : 0)]};
}

template <bool LAYER> static __device__ __forceinline__ float normal(float x, row_stats st)
{
    return (LAYER ? x - st.mean : x) * st.rstd;
}

/* A vector's h and w; g is gamma there, or 1. */
template <class T, bool LAYER>
static __device__ __forceinline__ void terms(uint4 x, uint4 dy, const float (&g)[PER<T>],
                                             row_stats st, float (&h)[PER<T>], float (&w)[PER<T>])
{
    widen_all<T>(x, h);
    widen_all<T>(dy, w);
#pragma unroll
    for (int i = 0; i < PER<T>; i++) {
        h[i] = normal<LAYER>(h[i], st);
        w[i] *= g[i];
    }
}

/* gamma at columns that begin at a multiple of 16 bytes. */
template <class T>
static __device__ __forceinline__ void gamma_at(gradient_job<T> a, long long col,
                                                float (&g)[PER<T>])
{
    if (a.has & HAS_GAMMA) {
        widen_all<T>(*(const uint4 *)(a.gamma + col), g);
        return;
    }
#pragma unroll
    for (int i = 0; i < PER<T>; i++)
        g[i] = 1;
}

/* The gradients of a vector, from its terms and the row's means of w h and w. */
template <class T, bool LAYER>
static __device__ __forceinline__ void slopes(row_stats st, float2 means, const float (&h)[PER<T>],
                                              float (&w)[PER<T>])
{
#pragma unroll
    for (int i = 0; i < PER<T>; i++)
        w[i] = st.rstd * fmaf(-h[i], means.x, LAYER ? w[i] - means.y : w[i]);
}

template <bool LAYER> static __device__ __forceinline__ float2 sum_lanes(float2 x, unsigned lanes)
{
    return make_float2(sum_lanes(x.x, lanes), LAYER ? sum_lanes(x.y, lanes) : 0);
}

/* Two calls in a row must not have the same of_warp. */
template <bool LAYER> static __device__ __forceinline__ float2 sum_block(float2 x, float2 *of_warp)
{
    unsigned lane = threadIdx.x % 32;
    x = sum_lanes<LAYER>(x, 32);
    if (lane == 0)
        of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    return sum_lanes<LAYER>(lane < blockDim.x / 32 ? of_warp[lane] : make_float2(0, 0), 32);
}

/* The second step: dgamma and dbeta of 32 columns a block, which has 8 rows of 32 threads. Sums of
 * every eighth part come first. */
template <class T>
static __device__ __forceinline__ void add_up(const float *partial, unsigned parts, long long cols,
                                              T *dgamma, T *dbeta)
{
    __shared__ float sums[8][32];
    long long col = (long long)blockIdx.x * 32 + threadIdx.x;
    const float *from = partial + blockIdx.y * parts * cols;
    float sum = 0;
    if (col < cols)
        for (unsigned k = threadIdx.y; k < parts; k += 8)
            sum += from[k * cols + col];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || col >= cols)
        return;
    for (int k = 1; k < 8; k++)
        sum += sums[k][threadIdx.x];
    narrow(sum, (blockIdx.y == 0 ? dgamma : dbeta) + col);
}

#define ADD_UP(type, T)                                                                            \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        add_up_##type(const float *partial, unsigned parts, long long cols, T *dgamma, T *dbeta)   \
    {                                                                                              \
        add_up<T>(partial, parts, cols, dgamma, dbeta);                                            \
    }

#endif
