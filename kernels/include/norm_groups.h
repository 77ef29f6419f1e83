/*
 * norm_groups.h: norms by blocks that stay, one on each SM. The threads of a block are GROUPS that
 * take rows of their own and meet at barriers of their own, so that one group's additions fill
 * another one's waits; all have the same columns, whose gamma and beta wait in shared memory. Rows
 * that one block does not hold go over the blocks of a cluster, in which the groups of the same
 * number tell each other their moments. Bulk copies fetch the next row of a group as soon as this one
 * is in registers. sm_90; rows are multiples of 16 bytes, buffers begin at such, and nothing is added
 * before: norm_stages.h does that.
 */
#ifndef LOCKSTEP_KERNELS_NORM_GROUPS_H
#define LOCKSTEP_KERNELS_NORM_GROUPS_H

#include "groups.h"
#include "norm_plain.h"

/* What lanes, warps and blocks have, of one row. One barrier of the group. */
template <class T, bool LAYER, int THREADS>
static __device__ __forceinline__ moments merge_group(moments m, moments (*of_warp)[32],
                                                      turns<float2> *of_blocks, unsigned turn,
                                                      long long cols)
{
    const unsigned warps = THREADS / 32;
    unsigned lane = threadIdx.x % 32, blocks = cluster_size();
    m = merge_lanes<LAYER>(m, 32);
    if (lane == 0)
        of_warp[turn % 2][threadIdx.x % THREADS / 32] = m;
    meet_group<THREADS>();
    m = merge_lanes<LAYER>(of_warp[turn % 2][lane % warps], warps);
    if (blocks == 1)
        return m;
    float2 theirs = take_turn(of_blocks, turn, make_float2(m.mean, m.squares), threadIdx.x % THREADS);
    return merge_blocks<T, LAYER>(theirs, cols);
}

/* The block's part of gamma and beta, which every row needs, into shared memory. */
template <class T, bool LAYER>
static __device__ __forceinline__ void copy_weights(const norm_job<T> &a, const part_of_row &p,
                                                    uint4 *gamma, uint4 *beta)
{
    for (unsigned at = threadIdx.x; at < p.count; at += blockDim.x) {
        if (a.has & HAS_GAMMA)
            gamma[at] = ((const uint4 *)a.gamma)[p.first + at];
        if (LAYER && a.has & HAS_BETA)
            beta[at] = ((const uint4 *)a.beta)[p.first + at];
    }
}

template <class T, bool LAYER, int V, int GROUPS, int THREADS, int STAGES>
static __device__ __forceinline__ void norm_groups(norm_job<T> a)
{
    extern __shared__ uint4 shared[]; // gamma, LAYER: beta, [room]; then [GROUPS][STAGES][room]
    __shared__ barrier full[GROUPS][STAGES];
    __shared__ moments of_warp[GROUPS][2][32];
    __shared__ turns<float2> of_blocks[GROUPS];
    part_of_row p = part_of<T>(a.cols);
    unsigned group = threadIdx.x / THREADS, me = threadIdx.x % THREADS, turn = 0;
    uint4 *gamma = shared, *beta = shared + p.room;
    uint4 *stages = shared + ((LAYER ? 2 : 1) + group * STAGES) * p.room;
    unsigned clusters = gridDim.x / cluster_size(), step = GROUPS * clusters;
    unsigned begin = blockIdx.x / cluster_size() * GROUPS + group;
    bool fetches = me < 32 && elect_one();
    auto fetch = [&](unsigned row, unsigned stage) {
        if (row >= a.rows)
            return;
        barrier_arrive_expecting(&full[group][stage], p.count * 16);
        if (p.count > 0)
            bulk_load(stages + stage * p.room, a.x + row * a.cols + (long long)p.first * PER<T>,
                      p.count * 16, &full[group][stage]);
    };
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[group][k], 1);
        barrier_made();
        for (int k = 0; k < STAGES; k++)
            fetch(begin + k * step, k);
    }
    groups_begin<GROUPS>(of_blocks);
    copy_weights<T, LAYER>(a, p, gamma, beta);
    __syncthreads();
    turns_wait();
    unsigned stage = 0, parity = 0, rows = a.rows;
    for (unsigned row = begin; row < rows; row += step) {
        uint4 v[V];
        int filled[V];
        const uint4 *from = stages + stage * p.room;
        barrier_wait(&full[group][stage], parity);
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = me + k * THREADS;
            filled[k] = at < p.count ? PER<T> : 0;
            v[k] = at < p.count ? from[at] : make_uint4(0, 0, 0, 0);
        }
        moments m;
        float factor = 1;
        for (bool again = false;; again = true) {
            only_words(v);
            m = merge_group<T, LAYER, THREADS>(measure<T, LAYER, true, V>(v, filled, factor),
                                               of_warp[group], &of_blocks[group], turn++, a.cols);
            only_words(v);
            if (again)
                break;
            if (fetches) // every thread has its part of the stage
                fetch(row + STAGES * step, stage);
            factor = factor_for(m, a.cols, a.eps);
            if (factor == 1) // nearly always; all blocks agree
                break;
        }
        statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
        if (me == 0 && p.first == 0)
            store_statistics<T, LAYER>(a, row, st);
        float multiply = st.factor * st.rstd, add = -st.mean * st.rstd;
        uint4 *to = (uint4 *)((T *)a.y + row * a.cols) + p.first + me;
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = me + k * THREADS;
            if (at < p.count)
                store_stream(to + k * THREADS,
                             plain_results<T, LAYER>(v[k], gamma[at], LAYER ? beta[at] : gamma[at],
                                                     multiply, add));
        }
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
}

#define NORM_GROUPS(name, T, LAYER, VECTORS, GROUPS, THREADS, STAGES)                              \
    extern "C" __global__ void __launch_bounds__((GROUPS) * (THREADS), 1) name(NORM_ARGUMENTS(T))  \
    {                                                                                              \
        norm_groups<T, LAYER, VECTORS, GROUPS, THREADS, STAGES>(NORM(T));                          \
    }

#endif
