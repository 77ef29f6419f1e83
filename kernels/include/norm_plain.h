/*
 * norm_plain.h: norms of plain rows: gamma and beta are there, nothing is added before, results have
 * the type of x, and rows begin at multiples of 16 bytes. What the compiler need not provide for
 * leaves registers for twice as many vectors a thread. sm_90.
 */
#ifndef LOCKSTEP_KERNELS_NORM_PLAIN_H
#define LOCKSTEP_KERNELS_NORM_PLAIN_H

#include "norm_parts.h"
#include "prefetch.h"

/* A vector's results; a number becomes x multiply + add before gamma. */
template <class T, bool LAYER>
static __device__ __forceinline__ uint4 plain_results(uint4 v, uint4 gamma, uint4 beta,
                                                      float multiply, float add)
{
    float x[PER<T>], g[PER<T>], b[PER<T>];
    widen_all<T>(v, x);
    widen_all<T>(gamma, g);
    if (LAYER)
        widen_all<T>(beta, b);
#pragma unroll
    for (int i = 0; i < PER<T>; i++)
        x[i] = LAYER ? fmaf(fmaf(x[i], multiply, add), g[i], b[i]) : x[i] * multiply * g[i];
    return narrow_all<T>(x);
}

/* A cluster for each row, whose blocks read their parts once and tell each other their moments. What a
 * block AHEAD of this one will read is on its way into the L2 when that one begins; each part of a row is
 * asked for once, whether or not AHEAD is a multiple of the cluster's size. */
template <class T, bool LAYER, int V, int AHEAD>
static __device__ __forceinline__ void norm_plain(norm_job<T> a)
{
    __shared__ moments of_warp[2][32];
    __shared__ turns<float2> of_blocks;
    part_of_row p = part_of<T>(a.cols);
    long long row = blockIdx.x / cluster_size();
    const uint4 *from = (const uint4 *)(a.x + row * a.cols) + p.first;
    turns_begin(&of_blocks);
    uint4 v[V];
    int filled[V];
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        filled[k] = at < p.count ? PER<T> : 0;
        v[k] = at < p.count ? load_once(from + at) : make_uint4(0, 0, 0, 0);
    }
    long long later = (blockIdx.x + AHEAD) / cluster_size();
    if (threadIdx.x == 0 && later < a.rows && p.count > 0)
        bulk_prefetch((const uint4 *)(a.x + later * a.cols) + p.first, p.count * 16);
    moments m;
    float factor = 1;
    for (unsigned turn = 0;; turn++) {
        only_words(v);
        m = merge_block<LAYER>(measure<T, LAYER, true, V>(v, filled, factor), of_warp[turn]);
        only_words(v);
        if (turn == 0)
            turns_wait();
        m = merge_cluster<T, LAYER>(m, &of_blocks, turn, a.cols);
        if (turn == 1)
            break;
        factor = factor_for(m, a.cols, a.eps);
        if (factor == 1) // nearly always; all blocks agree
            break;
    }
    statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
    if (threadIdx.x == 0 && p.first == 0)
        store_statistics<T, LAYER>(a, row, st);
    const uint4 *gamma = (const uint4 *)a.gamma + p.first, *beta = (const uint4 *)a.beta + p.first;
    float multiply = st.factor * st.rstd, add = -st.mean * st.rstd;
    uint4 *to = (uint4 *)((T *)a.y + row * a.cols) + p.first;
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        if (at < p.count)
            store_stream(to + at, plain_results<T, LAYER>(v[k], gamma[at], LAYER ? beta[at] : gamma[at],
                                                          multiply, add));
    }
}

#define NORM_PLAIN(type, T, LAYER, VECTORS, THREADS, AHEAD)                                        \
    extern "C" __global__ void __launch_bounds__(THREADS, 1024 / (THREADS))                        \
        plain_##type(NORM_ARGUMENTS(T))                                                            \
    {                                                                                              \
        norm_plain<T, LAYER, VECTORS, AHEAD>(NORM(T));                                             \
    }                                                                                              \
    NORM_LONG(type, T, LAYER)

#endif
