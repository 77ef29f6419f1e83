/*
 * norm_pairs.h: norms of long rows, two rows at a time. Clusters stay, each block with its part of
 * the columns, whose gamma and beta wait in shared memory: they are read once, where norm_stages.h
 * reads them from the L2 for every row, as many bytes as x each. What blocks tell each other about
 * two rows goes in one message, and one row's additions fill the other one's waits. Bulk copies
 * fetch the next two rows meanwhile. sm_90; rows are multiples of 16 bytes, buffers begin at such,
 * and nothing is added before: norm_stages.h does that.
 */
#ifndef LOCKSTEP_KERNELS_NORM_PAIRS_H
#define LOCKSTEP_KERNELS_NORM_PAIRS_H

#include "norm_parts.h"

/* Rows 2 pair and, unless it is behind the last, 2 pair + 1. */
template <class T>
static __device__ __forceinline__ void fetch_pair(uint4 *stage, part_of_row p, norm_job<T> a,
                                                  long long pair, barrier *full)
{
    unsigned bytes = p.count * 16, rows = 2 * pair + 1 < a.rows ? 2 : 1;
    barrier_arrive_expecting(full, bytes * rows);
    for (unsigned r = 0; r < rows && bytes > 0; r++)
        bulk_load(stage + r * p.room, a.x + (2 * pair + r) * a.cols + (long long)p.first * PER<T>,
                  bytes, full);
}

/* Of both rows: what the lanes, the warps and the blocks have. One barrier. */
template <class T, bool LAYER>
static __device__ __forceinline__ void merge_two(moments (&m)[2], moments (*of_warp)[32],
                                                 turns<float4> *of_blocks, unsigned turn,
                                                 long long cols)
{
    unsigned lane = threadIdx.x % 32, blocks = cluster_size();
#pragma unroll
    for (int r = 0; r < 2; r++) {
        m[r] = merge_lanes<LAYER>(m[r], 32);
        if (lane == 0)
            of_warp[r][threadIdx.x / 32] = m[r];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2; r++)
        m[r] = merge_lanes<LAYER>(lane < blockDim.x / 32 ? of_warp[r][lane] : moments{0, 0, 0}, 32);
    if (blocks == 1)
        return;
    float4 theirs =
        take_turn(of_blocks, turn, make_float4(m[0].mean, m[0].squares, m[1].mean, m[1].squares));
    float count = lane < blocks ? count_of_block<T>(cols, lane) : 0;
    m[0] = merge_lanes<LAYER>(lane < blocks ? moments{count, theirs.x, theirs.y} : moments{0, 0, 0},
                              32);
    m[1] = merge_lanes<LAYER>(lane < blocks ? moments{count, theirs.z, theirs.w} : moments{0, 0, 0},
                              32);
}

template <class T, bool LAYER, int V, int STAGES>
static __device__ __forceinline__ void norm_pairs(norm_job<T> a)
{
    extern __shared__ uint4 shared[]; // gamma, LAYER: beta, [room]; then [STAGES][2][room]
    __shared__ barrier full[STAGES];
    __shared__ moments of_warp[2][2][32];
    __shared__ turns<float4> of_blocks;
    part_of_row p = part_of<T>(a.cols);
    uint4 *gamma = shared, *beta = shared + p.room, *stages = shared + (LAYER ? 2 : 1) * p.room;
    unsigned clusters = gridDim.x / cluster_size(), turn = 0, stage = 0, parity = 0;
    long long begin = blockIdx.x / cluster_size(), pairs = (a.rows + 1) / 2;
    bool fetches = threadIdx.x < 32 && elect_one();
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[k], 1);
        barrier_made();
        for (int k = 0; k < STAGES && begin + k * (long long)clusters < pairs; k++)
            fetch_pair(stages + 2 * k * p.room, p, a, begin + k * (long long)clusters, &full[k]);
    }
    turns_begin(&of_blocks);
    for (unsigned at = threadIdx.x; at < p.count; at += blockDim.x) {
        if (a.has & HAS_GAMMA)
            gamma[at] = ((const uint4 *)a.gamma)[p.first + at];
        if (LAYER && a.has & HAS_BETA)
            beta[at] = ((const uint4 *)a.beta)[p.first + at];
    }
    __syncthreads();
    turns_wait();
    for (long long pair = begin; pair < pairs; pair += clusters) {
        const uint4 *here = stages + 2 * stage * p.room;
        bool two = 2 * pair + 1 < a.rows;
        uint4 v[2][V];
        int filled[V];
        barrier_wait(&full[stage], parity);
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = threadIdx.x + k * blockDim.x;
            filled[k] = at < p.count ? PER<T> : 0;
            v[0][k] = at < p.count ? here[at] : make_uint4(0, 0, 0, 0);
            v[1][k] = at < p.count && two ? here[p.room + at] : make_uint4(0, 0, 0, 0);
        }
        moments m[2] = {measure<T, LAYER, true, V>(v[0], filled, 1),
                        measure<T, LAYER, true, V>(v[1], filled, 1)};
        merge_two<T, LAYER>(m, of_warp[turn % 2], &of_blocks, turn, a.cols);
        turn++;
        long long next = pair + STAGES * (long long)clusters;
        if (fetches && next < pairs) // every thread has its part of the stage
            fetch_pair(stages + 2 * stage * p.room, p, a, next, &full[stage]);
        float factor[2] = {factor_for(m[0], a.cols, a.eps), 1};
        if (two)
            factor[1] = factor_for(m[1], a.cols, a.eps);
        if (factor[0] != 1 || factor[1] != 1) { // rarely; all blocks agree
            m[0] = measure<T, LAYER, true, V>(v[0], filled, factor[0]);
            m[1] = measure<T, LAYER, true, V>(v[1], filled, factor[1]);
            merge_two<T, LAYER>(m, of_warp[turn % 2], &of_blocks, turn, a.cols);
            turn++;
        }
        statistics st[2] = {statistics_of<LAYER>(m[0], factor[0], a.cols, a.eps),
                            statistics_of<LAYER>(m[1], factor[1], a.cols, a.eps)};
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = threadIdx.x + k * blockDim.x;
            if (!filled[k])
                continue;
            uint4 g = gamma[at], b = LAYER ? beta[at] : g;
            long long col = (long long)(p.first + at) * PER<T>;
            write_affine<T, LAYER>(a, 2 * pair, col, v[0][k], g, b, st[0]);
            if (two)
                write_affine<T, LAYER>(a, 2 * pair + 1, col, v[1][k], g, b, st[1]);
        }
        if (threadIdx.x == 0 && cluster_rank() == 0) {
            store_statistics<T, LAYER>(a, 2 * pair, st[0]);
            if (two)
                store_statistics<T, LAYER>(a, 2 * pair + 1, st[1]);
        }
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
}

#define NORM_PAIRS(type, T, LAYER, VECTORS, STAGES)                                                \
    extern "C" __global__ void __launch_bounds__(512, 1) pairs_##type(NORM_ARGUMENTS(T))           \
    {                                                                                              \
        norm_pairs<T, LAYER, VECTORS, STAGES>(NORM(T));                                            \
    }                                                                                              \
    NORM_LONG(type, T, LAYER)

#endif
