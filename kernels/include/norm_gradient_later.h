/*
 * norm_gradient_later.h: as norm_gradient_stages.h, for rows over many blocks: a row stays in its
 * stage until the sums of the next one are on their way, so that nobody waits for the other blocks.
 * sm_90; rows are multiples of 16 bytes, and buffers begin at such.
 */
#ifndef LOCKSTEP_KERNELS_NORM_GRADIENT_LATER_H
#define LOCKSTEP_KERNELS_NORM_GRADIENT_LATER_H

#include "norm_gradient_stages.h"

/* A row whose sums are under way. */
struct staged_row {
    const uint4 *x, *dy; // [room]
    long long row;
    row_stats st;
    float2 sums; // of this block
};
template <class T, int V>
static __device__ __forceinline__ void from_stage(part_of_row p, const staged_row &r, uint4 (&x)[V],
                                                  uint4 (&dy)[V])
{
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        x[k] = at < p.count ? r.x[at] : make_uint4(0, 0, 0, 0);
        dy[k] = at < p.count ? r.dy[at] : make_uint4(0, 0, 0, 0);
    }
}

/* dsum comes straight from memory, asked for before the wait for the other blocks. */
template <class T, int V>
static __device__ __forceinline__ void load_dsum(gradient_job<T> a, part_of_row p, long long row,
                                                 uint4 (&dsum)[V])
{
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        if (a.has & HAS_RESIDUAL && at < p.count)
            dsum[k] = load_once((const uint4 *)(a.dsum + row * a.cols) + p.first + at);
    }
}

template <class T, bool LAYER, int V>
static __device__ __forceinline__ void write_later(gradient_job<T> a, part_of_row p,
                                                   const staged_row &r, const uint4 (&x)[V],
                                                   const uint4 (&dy)[V], const uint4 (&dsum)[V],
                                                   float2 means, const column_sums<T, V> &columns)
{
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x + k * blockDim.x;
        float g[PER<T>], h[PER<T>], w[PER<T>];
        if (at >= p.count)
            continue;
        widen_all<T>(columns.weights[k], g);
        terms<T, LAYER>(x[k], dy[k], g, r.st, h, w);
        slopes<T, LAYER>(r.st, means, h, w);
        if (a.has & HAS_RESIDUAL) {
            widen_all<T>(dsum[k], g);
#pragma unroll
            for (int i = 0; i < PER<T>; i++)
                w[i] += g[i];
        }
        store_stream((uint4 *)(a.dx + r.row * a.cols) + p.first + at, narrow_all<T>(w));
    }
}

/* The means of w h and w of the row that was told in this turn. */
template <class T, bool LAYER>
static __device__ __forceinline__ float2 hear_means(gradient_job<T> a, float2 sums,
                                                    turns<float2> *of_blocks, unsigned turn)
{
    float share = 1.0f / a.cols;
    if (cluster_size() > 1) {
        sums = hear_blocks(of_blocks, turn);
        sums = sum_lanes<LAYER>(threadIdx.x % 32 < cluster_size() ? sums : make_float2(0, 0), 32);
    }
    return make_float2(sums.x * share, sums.y * share);
}

/* Of the row of the turn before. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ void finish_row(gradient_job<T> a, part_of_row p,
                                                  const staged_row &r, turns<float2> *of_blocks,
                                                  unsigned turn, const column_sums<T, V> &columns)
{
    uint4 x[V], dy[V], dsum[V];
    load_dsum<T, V>(a, p, r.row, dsum);
    float2 means = hear_means<T, LAYER>(a, r.sums, of_blocks, turn);
    from_stage<T, V>(p, r, x, dy);
    write_later<T, LAYER, V>(a, p, r, x, dy, dsum, means, columns);
}

/* STAGES is 3 at least: one row is added up, one is written, the others are on their way. */
template <class T, bool LAYER, int V, int STAGES>
static __device__ __forceinline__ void gradient_later(gradient_job<T> a)
{
    extern __shared__ uint4 stages[]; // [STAGES][x, dy][room]
    __shared__ barrier full[STAGES];
    __shared__ float2 of_warp[2][32];
    __shared__ turns<float2> of_blocks;
    const T *none = nullptr;
    part_of_row p = part_of<T>(a.cols);
    unsigned size = 2 * p.room, clusters = gridDim.x / cluster_size(), turn = 0;
    long long begin = blockIdx.x / cluster_size();
    bool fetches = threadIdx.x < 32 && elect_one();
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[k], 1);
        barrier_made();
        for (int k = 0; k < STAGES && begin + k * (long long)clusters < a.rows; k++)
            fetch_rows(stages + k * size, p, a.x, a.dy, none,
                       (begin + k * (long long)clusters) * a.cols, &full[k]);
    }
    turns_begin(&of_blocks);
    column_sums<T, V> columns = {};
    load_weights(a, p, &columns);
    __syncthreads();
    turns_wait();
    unsigned stage = 0, parity = 0;
    row_stats ahead = stats_of<T, LAYER>(a, begin); // begin is a row: clusters <= rows
    staged_row before = {};
    for (long long row = begin; row < a.rows; row += clusters, turn++) {
        const uint4 *here = stages + stage * size;
        staged_row r = {here, here + p.room, row, ahead, make_float2(0, 0)};
        uint4 x[V], dy[V];
        if (row + clusters < a.rows)
            ahead = stats_of<T, LAYER>(a, row + clusters);
        barrier_wait(&full[stage], parity);
        from_stage<T, V>(p, r, x, dy);
        r.sums = sum_block<LAYER>(add_row<T, LAYER, V>(a, p, x, dy, r.st, &columns),
                                  of_warp[turn % 2], cluster_size() == 1);
        /* All have written the row before last: its stage is free. */
        unsigned free = (stage + STAGES - 2) % STAGES;
        long long next = row + (STAGES - 2) * (long long)clusters;
        if (fetches && turn >= 2 && next < a.rows)
            fetch_rows(stages + free * size, p, a.x, a.dy, none, next * a.cols, &full[free]);
        if (cluster_size() > 1)
            tell_blocks(&of_blocks, turn, r.sums);
        if (turn > 0)
            finish_row<T, LAYER, V>(a, p, before, &of_blocks, turn - 1, columns);
        before = r;
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    finish_row<T, LAYER, V>(a, p, before, &of_blocks, turn - 1, columns);
    let_next_begin(); // add_up, which waits for what is written here
    if (a.has & HAS_GAMMA)
        write_columns<T, LAYER, V>(a, p, clusters, begin, columns);
}

/* slim: short rows of rmsnorm; stages: a block or two; later: more; wide: rows that those do not
 * hold. */
#define NORM_GRADIENT_STAGES(type, T, LAYER, VECTORS, STAGES)                                      \
    extern "C" __global__ void __launch_bounds__(512, 2) slim_##type(GRADIENT_ARGUMENTS(T))        \
    {                                                                                              \
        gradient_stages<T, LAYER, 1, 2>(GRADIENT(T));                                              \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(512) stages_##type(GRADIENT_ARGUMENTS(T))         \
    {                                                                                              \
        gradient_stages<T, LAYER, VECTORS, 2>(GRADIENT(T));                                        \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(512) later_##type(GRADIENT_ARGUMENTS(T))          \
    {                                                                                              \
        gradient_later<T, LAYER, VECTORS, STAGES>(GRADIENT(T));                                    \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(512) wide_##type(GRADIENT_ARGUMENTS(T))           \
    {                                                                                              \
        gradient_stages<T, LAYER, 2 * VECTORS, 2>(GRADIENT(T));                                    \
    }                                                                                              \
    NORM_LONG_PASSES(type, T, LAYER)

#endif
