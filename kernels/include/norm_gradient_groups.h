/*
 * norm_gradient_groups.h: all gradients of norms in one read of x and dy, by blocks that stay, one on
 * each SM. As in norm_groups.h the threads of a block are GROUPS that take rows of their own, and one
 * group's additions fill another one's waits; rows that one block does not hold well go over the blocks
 * of a cluster. A thread has the same columns of every row and adds up their dgamma and dbeta in
 * registers; last the block adds up what its groups found, and stores it as its cluster's partial sums.
 * sm_90; rows are multiples of 16 bytes, buffers begin at such, and no gradient reached the sum itself:
 * norm_gradient_stages.h does that.
 */
#ifndef LOCKSTEP_KERNELS_NORM_GRADIENT_GROUPS_H
#define LOCKSTEP_KERNELS_NORM_GRADIENT_GROUPS_H

#include "groups.h"
#include "norm_gradient_stages.h"

/* This thread's sums over the rows. */
template <class T, bool LAYER, int V> struct group_sums {
    float gamma[V][PER<T>], beta[LAYER ? V : 1][PER<T>];
};

/* Adds a row to the columns; returns this thread's part of the row's sums of w h and w. */
template <class T, bool LAYER, int V, int THREADS>
static __device__ __forceinline__ float2 add_to_columns(part_of_row p, const uint4 (&x)[V],
                                                        const uint4 (&dy)[V], const uint4 *gamma,
                                                        row_stats st,
                                                        group_sums<T, LAYER, V> *columns)
{
    float2 sums = make_float2(0, 0);
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x % THREADS + k * THREADS;
        if (at < p.count)
            add_vector<T, LAYER>(x[k], dy[k], gamma[at], st, columns->gamma[k],
                                 columns->beta[LAYER ? k : 0], &sums);
    }
    return sums;
}

/* dx: rstd (w - mean(w) - (x - mean) rstd mean(w h)). */
template <class T, bool LAYER, int V, int THREADS>
static __device__ __forceinline__ void write_gradient(uint4 *to, part_of_row p, const uint4 (&x)[V],
                                                      const uint4 (&dy)[V], const uint4 *gamma,
                                                      row_stats st, float2 means)
{
    float slope = -st.rstd * means.x;
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x % THREADS + k * THREADS;
        float g[PER<T>], w[PER<T>], d[PER<T>];
        if (at >= p.count)
            continue;
        widen_all<T>(gamma[at], g);
        widen_all<T>(x[k], w);
        widen_all<T>(dy[k], d);
#pragma unroll
        for (int i = 0; i < PER<T>; i++) {
            float rest = LAYER ? fmaf(w[i] - st.mean, slope, -means.y) : w[i] * slope;
            w[i] = st.rstd * fmaf(d[i], g[i], rest);
        }
        store_stream(to + at, narrow_all<T>(w));
    }
}

/* What all groups found, in their order, as the cluster's partial sums. sums: [GROUPS][room], twice
 * with LAYER. */
template <class T, bool LAYER, int V, int GROUPS, int THREADS>
static __device__ __forceinline__ void add_groups(gradient_job<T> a, part_of_row p, float *sums,
                                                  const group_sums<T, LAYER, V> &columns)
{
    unsigned wide = p.room * PER<T>, clusters = gridDim.x / cluster_size();
    float *mine = sums + threadIdx.x / THREADS * wide;
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x % THREADS + k * THREADS;
        if (at >= p.count)
            continue;
#pragma unroll
        for (int i = 0; i < PER<T>; i += 4) {
            float *to = mine + at * PER<T> + i;
            const float *g = &columns.gamma[k][i];
            *(float4 *)to = make_float4(g[0], g[1], g[2], g[3]);
            if constexpr (LAYER) {
                const float *b = &columns.beta[k][i];
                *(float4 *)(to + GROUPS * wide) = make_float4(b[0], b[1], b[2], b[3]);
            }
        }
    }
    __syncthreads();
    float *to = a.partial + blockIdx.x / cluster_size() * a.cols + (long long)p.first * PER<T>;
    for (unsigned which = 0; which < (LAYER ? 2 : 1); which++, to += clusters * a.cols)
        for (unsigned at = threadIdx.x; at < p.count * PER<T>; at += GROUPS * THREADS) {
            float sum = 0;
#pragma unroll
            for (int k = 0; k < GROUPS; k++)
                sum += sums[(which * GROUPS + k) * wide + at];
            to[at] = sum;
        }
}

template <class T, bool LAYER, int V, int GROUPS, int THREADS, int STAGES>
static __device__ __forceinline__ void gradient_groups(gradient_job<T> a)
{
    extern __shared__ uint4 shared[]; // gamma [room]; then [GROUPS][STAGES][x, dy][room]
    __shared__ barrier full[GROUPS][STAGES];
    __shared__ float2 of_warp[GROUPS][2][32];
    __shared__ turns<float2> of_blocks[GROUPS];
    part_of_row p = part_of<T>(a.cols);
    unsigned group = threadIdx.x / THREADS, me = threadIdx.x % THREADS, turn = 0;
    uint4 *gamma = shared, *stages = shared + (1 + 2 * group * STAGES) * p.room;
    unsigned clusters = gridDim.x / cluster_size(), step = GROUPS * clusters, rows = a.rows;
    unsigned begin = group * clusters + blockIdx.x / cluster_size();
    bool fetches = me < 32 && elect_one();
    auto fetch = [&](unsigned row, unsigned stage) {
        if (row < rows)
            fetch_rows(stages + 2 * stage * p.room, p, a.x, a.dy, (const T *)nullptr, row * a.cols,
                       &full[group][stage]);
    };
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[group][k], 1);
        barrier_made();
        for (int k = 0; k < STAGES; k++)
            fetch(begin + k * step, k);
    }
    groups_begin<GROUPS>(of_blocks);
    for (unsigned at = threadIdx.x; at < p.count; at += GROUPS * THREADS)
        gamma[at] = a.has & HAS_GAMMA ? ((const uint4 *)a.gamma)[p.first + at] : ones<T>();
    __syncthreads();
    turns_wait();
    group_sums<T, LAYER, V> columns = {};
    float share = 1.0f / a.cols;
    unsigned stage = 0, parity = 0;
    row_stats ahead = begin < rows ? stats_of<T, LAYER>(a, begin) : row_stats{0, 0};
    for (unsigned row = begin; row < rows; row += step) {
        const uint4 *here = stages + 2 * stage * p.room;
        uint4 x[V], dy[V];
        row_stats st = ahead;
        if (row + step < rows)
            ahead = stats_of<T, LAYER>(a, row + step);
        barrier_wait(&full[group][stage], parity);
#pragma unroll
        for (int k = 0; k < V; k++) {
            unsigned at = me + k * THREADS;
            x[k] = at < p.count ? here[at] : make_uint4(0, 0, 0, 0);
            dy[k] = at < p.count ? here[p.room + at] : make_uint4(0, 0, 0, 0);
        }
        float2 sums = sum_lanes<LAYER>(
            add_to_columns<T, LAYER, V, THREADS>(p, x, dy, gamma, st, &columns), 32);
        only_words(x);
        only_words(dy);
        if (threadIdx.x % 32 == 0)
            of_warp[group][turn % 2][me / 32] = sums;
        meet_group<THREADS>();
        if (fetches) // every thread has its part of the stage
            fetch(row + STAGES * step, stage);
        unsigned lane = threadIdx.x % 32;
        sums = sum_lanes<LAYER>(
            lane < THREADS / 32 ? of_warp[group][turn % 2][lane] : make_float2(0, 0), 32);
        if (cluster_size() > 1) {
            sums = take_turn(&of_blocks[group], turn, sums, me);
            sums = sum_lanes<LAYER>(lane < cluster_size() ? sums : make_float2(0, 0), 32);
        }
        turn++;
        write_gradient<T, LAYER, V, THREADS>((uint4 *)(a.dx + row * a.cols) + p.first, p, x, dy,
                                             gamma, st,
                                             make_float2(sums.x * share, sums.y * share));
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    if (!(a.has & HAS_GAMMA))
        return;
    __syncthreads(); // the stages are free
    add_groups<T, LAYER, V, GROUPS, THREADS>(a, p, (float *)(shared + p.room), columns);
}

#define NORM_GRADIENT_GROUPS(type, T, LAYER, VECTORS, GROUPS, THREADS, STAGES)                     \
    extern "C" __global__ void __launch_bounds__(GROUPS *THREADS, 1)                               \
        groups_##type(GRADIENT_ARGUMENTS(T))                                                       \
    {                                                                                              \
        gradient_groups<T, LAYER, VECTORS, GROUPS, THREADS, STAGES>(GRADIENT(T));                  \
    }                                                                                              \
    NORM_LONG_PASSES(type, T, LAYER)

#endif
