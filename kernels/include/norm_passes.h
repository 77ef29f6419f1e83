/*
 * norm_passes.h: the gradients of norms in passes of their own, for every shape and alignment: one
 * by columns for partial sums of dgamma and dbeta, one by rows for dx. x and dy are read twice.
 */
#ifndef LOCKSTEP_KERNELS_NORM_PASSES_H
#define LOCKSTEP_KERNELS_NORM_PASSES_H

#include "norm_gradient.h"

/* A thread for each column, which block y follows through its rows. */
template <class T, bool LAYER>
static __device__ __forceinline__ void gradient_columns(gradient_job<T> a)
{
    long long col = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long each = (a.rows + gridDim.y - 1) / gridDim.y, row = blockIdx.y * each;
    long long end = row + each < a.rows ? row + each : a.rows;
    if (col >= a.cols)
        return;
    float dgamma = 0, dbeta = 0;
    for (; row < end; row++) {
        float dy = widen(a.dy[row * a.cols + col]);
        float h = normal<LAYER>(widen(a.x[row * a.cols + col]), stats_of<T, LAYER>(a, row));
        dgamma = fmaf(dy, h, dgamma);
        dbeta += dy;
    }
    a.partial[blockIdx.y * a.cols + col] = dgamma;
    if (LAYER)
        a.partial[(gridDim.y + blockIdx.y) * a.cols + col] = dbeta;
}

/* A part of a row: what a thread adds to the sums of w h and w. */
template <class T, bool LAYER>
static __device__ __forceinline__ float2 add_terms(uint4 x, uint4 dy, const float (&g)[PER<T>],
                                                   row_stats st, float2 sums)
{
    float h[PER<T>], w[PER<T>];
    terms<T, LAYER>(x, dy, g, st, h, w);
#pragma unroll
    for (int i = 0; i < PER<T>; i++) {
        sums.x = fmaf(w[i], h[i], sums.x);
        sums.y += w[i];
    }
    return sums;
}

/* The row's means from a thread's part; what lies outside of the row has x = dy = 0, and adds
 * nothing. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ float2 measure(gradient_job<T> a, const uint4 (&x)[V],
                                                 const uint4 (&dy)[V], long long first,
                                                 long long step, row_stats st)
{
    float2 sums = make_float2(0, 0);
#pragma unroll
    for (int k = 0; k < V; k++) {
        float g[PER<T>];
        long long col = first + k * step;
        if (col < a.cols) {
            gamma_at(a, col, g);
            sums = add_terms<T, LAYER>(x[k], dy[k], g, st, sums);
        }
    }
    return sums;
}

template <class T, bool LAYER, int V>
static __device__ __forceinline__ void write(gradient_job<T> a, long long row, share s,
                                             const uint4 (&x)[V], const uint4 (&dy)[V],
                                             row_stats st, float2 sums)
{
    float2 means = make_float2(sums.x / a.cols, sums.y / a.cols);
#pragma unroll
    for (int k = 0; k < V; k++) {
        long long col = s.first + k * s.step;
        float g[PER<T>], h[PER<T>], w[PER<T>];
        if (col >= a.cols)
            continue;
        gamma_at(a, col, g);
        terms<T, LAYER>(x[k], dy[k], g, st, h, w);
        slopes<T, LAYER>(st, means, h, w);
        if (a.has & HAS_RESIDUAL) {
            widen_all<T>(load_once((const uint4 *)(a.dsum + row * a.cols + col)), g);
#pragma unroll
            for (int i = 0; i < PER<T>; i++)
                w[i] += g[i];
        }
        store_share(a.dx + row * a.cols, s, k, w);
    }
}

/* Rows of 1 << log_lanes lanes each; rows begin at multiples of 16 bytes. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ void gradient_lanes(gradient_job<T> a, unsigned log_lanes)
{
    unsigned lanes = 1u << log_lanes, me = threadIdx.x & (lanes - 1);
    long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> log_lanes;
    bool mine = row < a.rows;
    row = mine ? row : 0;
    share s = share_of(a.x, me, lanes, 0, a.cols, true);
    row_stats st = stats_of<T, LAYER>(a, row);
    uint4 x[V], dy[V];
    load_share<T, V>(a.x + row * a.cols, s, 0, x);
    load_share<T, V>(a.dy + row * a.cols, s, 0, dy);
    float2 sums = sum_lanes<LAYER>(measure<T, LAYER, V>(a, x, dy, s.first, s.step, st), lanes);
    if (mine)
        write<T, LAYER, V>(a, row, s, x, dy, st, sums);
}

/* A block for each row; likewise. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ void gradient_block(gradient_job<T> a)
{
    __shared__ float2 of_warp[32];
    long long row = blockIdx.x;
    share s = share_of(a.x, threadIdx.x, blockDim.x, 0, a.cols, true);
    row_stats st = stats_of<T, LAYER>(a, row);
    uint4 x[V], dy[V];
    load_share<T, V>(a.x + row * a.cols, s, 0, x);
    load_share<T, V>(a.dy + row * a.cols, s, 0, dy);
    float2 sums = sum_block<LAYER>(measure<T, LAYER, V>(a, x, dy, s.first, s.step, st), of_warp);
    write<T, LAYER, V>(a, row, s, x, dy, st, sums);
}

/* Rows of any length and alignment, number by number: read twice. */
template <class T, bool LAYER>
static __device__ __forceinline__ void gradient_long(gradient_job<T> a)
{
    __shared__ float2 of_warp[32];
    long long row = blockIdx.x, at = row * a.cols;
    row_stats st = stats_of<T, LAYER>(a, row);
    float2 sums = make_float2(0, 0);
    for (long long k = threadIdx.x; k < a.cols; k += blockDim.x) {
        float w = widen(a.dy[at + k]) * (a.has & HAS_GAMMA ? widen(a.gamma[k]) : 1);
        sums.x = fmaf(w, normal<LAYER>(widen(a.x[at + k]), st), sums.x);
        sums.y += w;
    }
    sums = sum_block<LAYER>(sums, of_warp);
    float2 means = make_float2(sums.x / a.cols, sums.y / a.cols);
    for (long long k = threadIdx.x; k < a.cols; k += blockDim.x) {
        float w = widen(a.dy[at + k]) * (a.has & HAS_GAMMA ? widen(a.gamma[k]) : 1);
        float h = normal<LAYER>(widen(a.x[at + k]), st);
        float slope = st.rstd * fmaf(-h, means.x, LAYER ? w - means.y : w);
        narrow(a.has & HAS_RESIDUAL ? slope + widen(a.dsum[at + k]) : slope, &a.dx[at + k]);
    }
}

/* For rows of any length and alignment. */
#define NORM_LONG_PASSES(type, T, LAYER)                                                           \
    extern "C" __global__ void __launch_bounds__(256) columns_##type(GRADIENT_ARGUMENTS(T))        \
    {                                                                                              \
        gradient_columns<T, LAYER>(GRADIENT(T));                                                   \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) long_##type(GRADIENT_ARGUMENTS(T))          \
    {                                                                                              \
        gradient_long<T, LAYER>(GRADIENT(T));                                                      \
    }                                                                                              \
    ADD_UP(type, T)

/* And for those that begin at multiples of 16 bytes. */
#define NORM_PASSES(type, T, LAYER, VECTORS)                                                       \
    NORM_LONG_PASSES(type, T, LAYER)                                                               \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        lanes_##type(GRADIENT_ARGUMENTS(T), unsigned log_lanes)                                    \
    {                                                                                              \
        gradient_lanes<T, LAYER, 2>(GRADIENT(T), log_lanes);                                       \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) block_##type(GRADIENT_ARGUMENTS(T))         \
    {                                                                                              \
        gradient_block<T, LAYER, VECTORS>(GRADIENT(T));                                            \
    }

#endif
