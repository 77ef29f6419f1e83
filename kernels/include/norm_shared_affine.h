/*
 * norm_shared_affine.h: norms of long rows, ROWS of them (1 or 2) at a time. Clusters stay, each block
 * with its part of the columns, whose gamma and beta wait in shared memory: they are read once, where
 * norm_stages.h reads them from the L2 for every row, as many bytes as x each. What blocks tell each
 * other about two rows goes in one message, and one row's additions fill the other one's waits. Bulk
 * copies fetch the next rows meanwhile. sm_90; rows are multiples of 16 bytes, buffers begin at
 * such, and nothing is added before: norm_stages.h does that.
 */
#ifndef LOCKSTEP_KERNELS_NORM_SHARED_AFFINE_H
#define LOCKSTEP_KERNELS_NORM_SHARED_AFFINE_H

#include "norm_parts.h"

/* `count` rows from `row` on. */
template <class T>
static __device__ __forceinline__ void fetch_some(uint4 *stage, part_of_row p, norm_job<T> a,
                                                  long long row, int count, barrier *full)
{
    unsigned bytes = p.count * 16;
    barrier_arrive_expecting(full, bytes * (unsigned)count);
    for (int r = 0; r < count && bytes > 0; r++)
        bulk_load(stage + r * p.room, a.x + (row + r) * a.cols + (long long)p.first * PER<T>, bytes,
                  full);
}

/* Of all rows: what the lanes, the warps and the blocks have. One barrier. */
template <class T, bool LAYER, int ROWS>
static __device__ __forceinline__ void merge_rows(moments (&m)[ROWS], moments (*of_warp)[32],
                                                  turns<float4> *of_blocks, unsigned turn,
                                                  long long cols)
{
    unsigned lane = threadIdx.x % 32, blocks = cluster_size();
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        m[r] = merge_lanes<LAYER>(m[r], 32);
        if (lane == 0)
            of_warp[r][threadIdx.x / 32] = m[r];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        m[r] = merge_lanes<LAYER>(lane < blockDim.x / 32 ? of_warp[r][lane] : moments{0, 0, 0}, 32);
    if (blocks == 1)
        return;
    float4 theirs =
        take_turn(of_blocks, turn,
                  make_float4(m[0].mean, m[0].squares, m[ROWS - 1].mean, m[ROWS - 1].squares));
    float count = lane < blocks ? count_of_block<T>(cols, lane) : 0;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        m[r] = merge_lanes<LAYER>(lane < blocks ? moments{count, r ? theirs.z : theirs.x,
                                                          r ? theirs.w : theirs.y}
                                                : moments{0, 0, 0},
                                  32);
}

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

/* The results of `count` rows from `row` on, and their statistics. */
template <class T, bool LAYER, int V, int ROWS>
static __device__ __forceinline__ void write_rows(norm_job<T> a, part_of_row p, long long row,
                                                  int count, const uint4 (&v)[ROWS][V],
                                                  const uint4 *gamma, const uint4 *beta,
                                                  const statistics (&st)[ROWS])
{
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        if (at >= p.count)
            continue;
        affine_at_hand affine = {gamma[at], LAYER ? beta[at] : gamma[at]};
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (r < count)
                write_affine<T, LAYER>(a, row + r, (long long)(p.first + at) * PER<T>, v[r][k],
                                       affine, st[r]);
    }
    if (threadIdx.x == 0 && cluster_rank() == 0)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (r < count)
                store_statistics<T, LAYER>(a, row + r, st[r]);
}

template <class T, bool LAYER, int V, int ROWS, int STAGES>
static __device__ __forceinline__ void norm_shared_affine(norm_job<T> a)
{
    extern __shared__ uint4 shared[]; // gamma, LAYER: beta, [room]; then [STAGES][ROWS][room]
    __shared__ barrier full[STAGES];
    __shared__ moments of_warp[2][ROWS][32];
    __shared__ turns<float4> of_blocks;
    part_of_row p = part_of<T>(a.cols);
    uint4 *gamma = shared, *beta = shared + p.room, *stages = shared + (LAYER ? 2 : 1) * p.room;
    unsigned turn = 0, stage = 0, parity = 0;
    long long begin = ROWS * (blockIdx.x / cluster_size());
    long long step = ROWS * (gridDim.x / cluster_size()); // from one turn's rows to the next one's
    bool fetches = threadIdx.x < 32 && elect_one();
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[k], 1);
        barrier_made();
        for (int k = 0; k < STAGES && begin + k * step < a.rows; k++)
            fetch_some(stages + k * ROWS * p.room, p, a, begin + k * step,
                       (int)min((long long)ROWS, a.rows - begin - k * step), &full[k]);
    }
    turns_begin(&of_blocks);
    load_affine<LAYER>(a, p, gamma, beta);
    __syncthreads();
    turns_wait();
    for (long long row = begin; row < a.rows; row += step) {
        const uint4 *here = stages + stage * ROWS * p.room;
        int count = (int)min((long long)ROWS, a.rows - row);
        uint4 v[ROWS][V];
        int filled[V];
        moments m[ROWS];
        float factor[ROWS];
        bool again = false;
        barrier_wait(&full[stage], parity);
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = threadIdx.x + k * blockDim.x;
            filled[k] = at < p.count ? PER<T> : 0;
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                v[r][k] = at < p.count && r < count ? here[r * p.room + at] : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            m[r] = measure<T, LAYER, true, V>(v[r], filled, 1);
        merge_rows<T, LAYER, ROWS>(m, of_warp[turn % 2], &of_blocks, turn, a.cols);
        turn++;
        long long next = row + STAGES * step;
        if (fetches && next < a.rows) // every thread has its part of the stage
            fetch_some(stages + stage * ROWS * p.room, p, a, next,
                       (int)min((long long)ROWS, a.rows - next), &full[stage]);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            factor[r] = r < count ? factor_for(m[r], a.cols, a.eps) : 1;
            again = again || factor[r] != 1;
        }
        if (again) { // rarely; all blocks agree
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                m[r] = measure<T, LAYER, true, V>(v[r], filled, factor[r]);
            merge_rows<T, LAYER, ROWS>(m, of_warp[turn % 2], &of_blocks, turn, a.cols);
            turn++;
        }
        statistics st[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            st[r] = statistics_of<LAYER>(m[r], factor[r], a.cols, a.eps);
        write_rows<T, LAYER, V, ROWS>(a, p, row, count, v, gamma, beta, st);
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
}

#define NORM_SHARED_AFFINE(type, T, LAYER, VECTORS, ROWS, STAGES)                                  \
    extern "C" __global__ void __launch_bounds__(512, 3 - ROWS)                                    \
        shared_affine_##type(NORM_ARGUMENTS(T))                                                    \
    {                                                                                              \
        norm_shared_affine<T, LAYER, VECTORS, ROWS, STAGES>(NORM(T));                              \
    }                                                                                              \
    NORM_LONG(type, T, LAYER)

#endif
