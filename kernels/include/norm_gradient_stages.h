/*
 * norm_gradient_stages.h: all gradients of norms in one read of x and dy. As in norm_stages.h rows
 * come into shared memory ahead of time, over a block or a cluster of blocks. A thread has the same
 * columns of every row that its block takes, so it adds up dgamma and dbeta in registers, and
 * stores them once as its cluster's partial sums. sm_90; rows are multiples of 16
 * bytes, and buffers begin at such: norm_passes.h does the others.
 */
#ifndef LOCKSTEP_KERNELS_NORM_GRADIENT_STAGES_H
#define LOCKSTEP_KERNELS_NORM_GRADIENT_STAGES_H

#include "norm_passes.h"
#include "norm_stages.h"

/* This thread's columns: gamma, and the sums over all rows of its cluster. */
template <class T, int V> struct column_sums {
    uint4 weights[V];
    float gamma[V][PER<T>], beta[V][PER<T>];
};
template <class T> static __device__ __forceinline__ uint4 ones(void)
{
    float x[PER<T>];
#pragma unroll
    for (int i = 0; i < PER<T>; i++)
        x[i] = 1;
    return narrow_all<T>(x);
}

/* Adds a vector to its columns, and to its row's sums of w h and w. */
template <class T, bool LAYER>
static __device__ __forceinline__ void add_vector(uint4 x, uint4 dy, uint4 weights, row_stats st,
                                                  float (&of_gamma)[PER<T>],
                                                  float (&of_beta)[PER<T>], float2 *sums)
{
    float g[PER<T>], h[PER<T>], d[PER<T>];
    widen_all<T>(weights, g);
    widen_all<T>(x, h);
    widen_all<T>(dy, d);
#pragma unroll
    for (int i = 0; i < PER<T>; i++) {
        float normed = normal<LAYER>(h[i], st), w = d[i] * g[i];
        of_gamma[i] = fmaf(d[i], normed, of_gamma[i]);
        sums->x = fmaf(w, normed, sums->x);
        if (LAYER) {
            of_beta[i] += d[i];
            sums->y += w;
        }
    }
}

/* Adds a row to its columns; returns what the thread adds to the row's sums of w h and w. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ float2 add_row(gradient_job<T> a, part_of_row p,
                                                 const uint4 (&x)[V], const uint4 (&dy)[V],
                                                 row_stats st, column_sums<T, V> *columns)
{
    float2 sums = make_float2(0, 0);
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        if (at < p.count)
            add_vector<T, LAYER>(x[k], dy[k], columns->weights[k], st, columns->gamma[k],
                                 columns->beta[k], &sums);
    }
    return sums;
}

template <class T, bool LAYER, int V>
static __device__ __forceinline__ void write_row(gradient_job<T> a, part_of_row p, long long row,
                                                 const uint4 (&x)[V], const uint4 (&dy)[V],
                                                 const uint4 *dsum, row_stats st, float2 means,
                                                 const column_sums<T, V> &columns)
{
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        float g[PER<T>], h[PER<T>], w[PER<T>];
        if (at >= p.count)
            continue;
        widen_all<T>(columns.weights[k], g);
        terms<T, LAYER>(x[k], dy[k], g, st, h, w);
        slopes<T, LAYER>(st, means, h, w);
        if (dsum) {
            widen_all<T>(dsum[at], g);
#pragma unroll
            for (int i = 0; i < PER<T>; i++)
                w[i] += g[i];
        }
        store_stream((uint4 *)(a.dx + row * a.cols) + p.first + at, narrow_all<T>(w));
    }
}

/* The cluster's partial sums. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ void write_columns(gradient_job<T> a, part_of_row p,
                                                     unsigned clusters, unsigned cluster,
                                                     const column_sums<T, V> &columns)
{
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        if (at >= p.count)
            continue;
        float *to = a.partial + cluster * a.cols + (long long)(p.first + at) * PER<T>;
#pragma unroll
        for (int i = 0; i < PER<T>; i += 4) {
            store_whole((float4 *)(to + i),
                        make_float4(columns.gamma[k][i], columns.gamma[k][i + 1],
                                    columns.gamma[k][i + 2], columns.gamma[k][i + 3]));
            if (LAYER)
                store_whole((float4 *)(to + clusters * a.cols + i),
                            make_float4(columns.beta[k][i], columns.beta[k][i + 1],
                                        columns.beta[k][i + 2], columns.beta[k][i + 3]));
        }
    }
}

template <class T, bool LAYER, int V, int STAGES>
static __device__ __forceinline__ void gradient_stages(gradient_job<T> a)
{
    extern __shared__ uint4 stages[]; // [STAGES][x, dy, dsum][room]
    __shared__ barrier full[STAGES];
    __shared__ float2 of_warp[2][32];
    __shared__ turns<float2> of_blocks;
    part_of_row p = part_of<T>(a.cols);
    const T *third = a.has & HAS_RESIDUAL ? a.dsum : nullptr;
    unsigned size = (third ? 3 : 2) * p.room, clusters = gridDim.x / cluster_size(), turn = 0;
    long long begin = blockIdx.x / cluster_size();
    bool fetches = threadIdx.x < 32 && elect_one();
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[k], 1);
        barrier_made();
        for (int k = 0; k < STAGES && begin + k * (long long)clusters < a.rows; k++)
            fetch_rows(stages + k * size, p, a.x, a.dy, third,
                       (begin + k * (long long)clusters) * a.cols, &full[k]);
    }
    turns_begin(&of_blocks);
    __syncthreads();
    turns_wait();
    column_sums<T, V> columns = {};
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        columns.weights[k] =
            a.has & HAS_GAMMA && at < p.count ? ((const uint4 *)a.gamma)[p.first + at] : ones<T>();
    }
    float share = 1.0f / a.cols;
    unsigned stage = 0, parity = 0;
    row_stats ahead = stats_of<T, LAYER>(a, begin); // begin is a row: clusters <= rows
    for (long long row = begin; row < a.rows; row += clusters) {
        uint4 *here = stages + stage * size;
        uint4 x[V], dy[V];
        row_stats st = ahead;
        if (row + clusters < a.rows)
            ahead = stats_of<T, LAYER>(a, row + clusters);
        barrier_wait(&full[stage], parity);
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = threadIdx.x + k * blockDim.x;
            x[k] = at < p.count ? here[at] : make_uint4(0, 0, 0, 0);
            dy[k] = at < p.count ? here[p.room + at] : make_uint4(0, 0, 0, 0);
        }
        float2 sums =
            sum_block<LAYER>(add_row<T, LAYER, V>(a, p, x, dy, st, &columns), of_warp[turn % 2]);
        long long next = row + STAGES * (long long)clusters;
        if (!third && fetches && next < a.rows) // every thread has its part of the stage
            fetch_rows(here, p, a.x, a.dy, third, next * a.cols, &full[stage]);
        if (cluster_size() > 1) {
            sums = take_turn(&of_blocks, turn, sums);
            sums =
                sum_lanes<LAYER>(threadIdx.x % 32 < cluster_size() ? sums : make_float2(0, 0), 32);
        }
        turn++;
        write_row<T, LAYER, V>(a, p, row, x, dy, third ? here + 2 * p.room : nullptr, st,
                               make_float2(sums.x * share, sums.y * share), columns);
        if (third) { // dsum was read from its stage
            __syncthreads();
            if (fetches && next < a.rows)
                fetch_rows(here, p, a.x, a.dy, third, next * a.cols, &full[stage]);
        }
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    if (a.has & HAS_GAMMA)
        write_columns<T, LAYER, V>(a, p, clusters, begin, columns);
}

/* "wide": threads with twice the vectors, for rows that 8 blocks do not hold otherwise. */
#define NORM_GRADIENT_STAGES(type, T, LAYER, VECTORS, STAGES)                                      \
    extern "C" __global__ void __launch_bounds__(512) stages_##type(GRADIENT_ARGUMENTS(T))         \
    {                                                                                              \
        gradient_stages<T, LAYER, VECTORS, STAGES>(GRADIENT(T));                                   \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(512) wide_##type(GRADIENT_ARGUMENTS(T))           \
    {                                                                                              \
        gradient_stages<T, LAYER, 2 * VECTORS, STAGES>(GRADIENT(T));                               \
    }                                                                                              \
    NORM_LONG_PASSES(type, T, LAYER)

#endif
