/*
 * norm_plain.h: norms of plain rows: gamma and beta are there, nothing is added before, results have
 * the type of x, and rows begin at multiples of 16 bytes. What the compiler need not provide for
 * leaves registers for more threads, and more of them fetch at a time.
 */
#ifndef LOCKSTEP_KERNELS_NORM_PLAIN_H
#define LOCKSTEP_KERNELS_NORM_PLAIN_H

#include "norm_parts.h"

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

/* A cluster, or a block alone, takes `together` rows one after the other. SHARED: this block's gamma and
 * beta come into shared memory while the first row is on its way. */
template <class T, bool LAYER, int V, bool SHARED, int TOGETHER>
static __device__ __forceinline__ void norm_plain_loop(norm_job<T> a)
{
    extern __shared__ uint4 affine[]; // gamma, LAYER: beta, [room]
    __shared__ moments of_warp[2][32];
    __shared__ turns<float2> of_blocks;
    __shared__ barrier here;
    part_of_row p = part_of<T>(a.cols);
    unsigned turn = 0, lane = threadIdx.x % 32, blocks = cluster_size();
    unsigned row = blockIdx.x / blocks * TOGETHER;
    const uint4 *gamma = SHARED ? affine : (const uint4 *)a.gamma + p.first;
    const uint4 *beta = SHARED ? affine + p.room : (const uint4 *)a.beta + p.first;
    if (SHARED && threadIdx.x < 32 && elect_one()) {
        barrier_make(&here, 1);
        barrier_made();
        barrier_arrive_expecting(&here, p.count * (LAYER ? 32 : 16));
        if (p.count > 0)
            bulk_load(affine, a.gamma + (long long)p.first * PER<T>, p.count * 16, &here);
        if (LAYER && p.count > 0)
            bulk_load(affine + p.room, a.beta + (long long)p.first * PER<T>, p.count * 16, &here);
    }
    turns_begin(&of_blocks);
#pragma unroll 1
    for (int i = 0; i < TOGETHER && (TOGETHER == 1 || row < a.rows); i++, row++) {
        uint4 v[V];
        int filled[V];
        const uint4 *from = (const uint4 *)(a.x + row * a.cols) + p.first;
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = threadIdx.x + k * blockDim.x;
            filled[k] = at < p.count ? PER<T> : 0;
            v[k] = at < p.count ? load_once(from + at) : make_uint4(0, 0, 0, 0);
        }
        moments m;
        float factor = 1;
        for (bool again = false;; again = true) {
            only_words(v);
            m = merge_lanes<LAYER>(measure<T, LAYER, true, V>(v, filled, factor), 32);
            only_words(v);
            if (lane == 0)
                of_warp[turn % 2][threadIdx.x / 32] = m;
            __syncthreads();
            m = merge_lanes<LAYER>(
                lane < blockDim.x / 32 ? of_warp[turn % 2][lane] : moments{0, 0, 0}, 32);
            if (i == 0 && !again)
                turns_wait();
            m = merge_cluster<T, LAYER>(m, &of_blocks, turn++, a.cols);
            if (again)
                break;
            factor = factor_for(m, a.cols, a.eps);
            if (factor == 1) // nearly always; all blocks agree
                break;
        }
        statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
        if (threadIdx.x == 0 && p.first == 0)
            store_statistics<T, LAYER>(a, row, st);
        float multiply = st.factor * st.rstd, add = -st.mean * st.rstd;
        uint4 *to = (uint4 *)((T *)a.y + row * a.cols) + p.first;
        if (SHARED)
            barrier_wait(&here, 0);
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = threadIdx.x + k * blockDim.x;
            if (at < p.count)
                store_stream(to + at, plain_results<T, LAYER>(v[k], gamma[at], LAYER ? beta[at] : gamma[at],
                                                              multiply, add));
        }
    }
}

#endif
