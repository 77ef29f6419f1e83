/*
 * norm_shared_affine.h: norms of long rows. Clusters stay, each block with its part of the columns,
 * whose gamma and beta wait in shared memory: they are read once, where norm_stages.h reads them
 * from the L2 for every row, as many bytes as x each. A row is written one turn later, when the
 * next one's moments are on their way between the blocks: so nobody waits for them. Bulk copies
 * fetch the rows after that meanwhile. sm_90; rows are multiples of 16 bytes, buffers begin at
 * such, and nothing is added before: norm_stages.h does that.
 */
#ifndef LOCKSTEP_KERNELS_NORM_SHARED_AFFINE_H
#define LOCKSTEP_KERNELS_NORM_SHARED_AFFINE_H

#include "norm_stages.h"

/* This block's part of gamma and beta, to shared memory. */
template <bool LAYER, class T>
static __device__ __forceinline__ void load_affine(norm_job<T> a, part_of_row p, uint4 *gamma,
                                                   uint4 *beta)
{
    for (unsigned at = threadIdx.x; at < p.count; at += blockDim.x) {
        if (a.has & HAS_GAMMA)
            gamma[at] = ((const uint4 *)a.gamma)[p.first + at];
        if (LAYER && a.has & HAS_BETA)
            beta[at] = ((const uint4 *)a.beta)[p.first + at];
    }
}

/* A row whose moments are on their way. */
template <int V> struct told_row {
    uint4 v[V];
    moments m; // of this block
    long long row;
    unsigned turn;
};

/* Its results and statistics. A row that must be measured again takes a turn of its own: all blocks
 * agree on that. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ void
finish_row(norm_job<T> a, part_of_row p, const told_row<V> &r, const uint4 *gamma,
           const uint4 *beta, moments (*of_warp)[32], turns<float2> *of_blocks, unsigned *turn)
{
    int filled[V];
#pragma unroll
    for (int k = 0; k < V; k++)
        filled[k] = threadIdx.x + k * blockDim.x < p.count ? PER<T> : 0;
    moments m = hear_cluster<T, LAYER>(r.m, of_blocks, r.turn, a.cols);
    float factor = factor_for(m, a.cols, a.eps);
    if (factor != 1) { // rarely
        m = merge_block<LAYER>(measure<T, LAYER, true, V>(r.v, filled, factor), of_warp[*turn % 2]);
        m = merge_cluster<T, LAYER>(m, of_blocks, *turn, a.cols);
        ++*turn;
    }
    statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        if (!filled[k])
            continue;
        affine_at_hand affine = {gamma[at], LAYER ? beta[at] : gamma[at]};
        write_affine<T, LAYER>(a, r.row, (long long)(p.first + at) * PER<T>, r.v[k], affine, st);
    }
    if (threadIdx.x == 0 && cluster_rank() == 0)
        store_statistics<T, LAYER>(a, r.row, st);
}

template <class T, bool LAYER, int V, int STAGES>
static __device__ __forceinline__ void norm_shared_affine(norm_job<T> a)
{
    extern __shared__ uint4 shared[]; // gamma, LAYER: beta, [room]; then [STAGES][room]
    __shared__ barrier full[STAGES];
    __shared__ moments of_warp[2][32];
    __shared__ turns<float2> of_blocks;
    part_of_row p = part_of<T>(a.cols);
    uint4 *gamma = shared, *beta = shared + p.room, *stages = shared + (LAYER ? 2 : 1) * p.room;
    unsigned turn = 0, stage = 0, parity = 0, clusters = gridDim.x / cluster_size();
    long long begin = blockIdx.x / cluster_size();
    bool fetches = threadIdx.x < 32 && elect_one();
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[k], 1);
        barrier_made();
        for (int k = 0; k < STAGES && begin + k * (long long)clusters < a.rows; k++)
            fetch_rows(stages + k * p.room, p, a.x, (const T *)nullptr, (const T *)nullptr,
                       (begin + k * (long long)clusters) * a.cols, &full[k]);
    }
    turns_begin(&of_blocks);
    load_affine<LAYER>(a, p, gamma, beta);
    __syncthreads();
    turns_wait();
    told_row<V> before = {};
    for (long long row = begin; row < a.rows; row += clusters) {
        const uint4 *here = stages + stage * p.room;
        told_row<V> r;
        int filled[V];
        barrier_wait(&full[stage], parity);
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = threadIdx.x + k * blockDim.x;
            filled[k] = at < p.count ? PER<T> : 0;
            r.v[k] = at < p.count ? here[at] : make_uint4(0, 0, 0, 0);
        }
        r.row = row;
        r.turn = turn++;
        r.m = merge_block<LAYER>(measure<T, LAYER, true, V>(r.v, filled, 1), of_warp[r.turn % 2],
                                 cluster_size() == 1);
        long long next = row + STAGES * (long long)clusters;
        if (fetches && next < a.rows) // every thread has its part of the stage
            fetch_rows(stages + stage * p.room, p, a.x, (const T *)nullptr, (const T *)nullptr,
                       next * a.cols, &full[stage]);
        tell_cluster(r.m, &of_blocks, r.turn);
        if (row != begin)
            finish_row<T, LAYER, V>(a, p, before, gamma, beta, of_warp, &of_blocks, &turn);
        before = r;
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    finish_row<T, LAYER, V>(a, p, before, gamma, beta, of_warp, &of_blocks, &turn);
}

#define NORM_SHARED_AFFINE(type, T, LAYER, VECTORS, STAGES)                                        \
    extern "C" __global__ void __launch_bounds__(512) shared_affine_##type(NORM_ARGUMENTS(T))      \
    {                                                                                              \
        norm_shared_affine<T, LAYER, VECTORS, STAGES>(NORM(T));                                    \
    }                                                                                              \
    NORM_LONG(type, T, LAYER)

#endif
