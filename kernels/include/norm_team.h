/*
 * norm_team.h: norms of rows that go over a team of blocks, up to one on every SM. A block has the
 * same columns of every row, and a warp takes the block's part of a row by itself: it needs no
 * barrier, and while its numbers are on their way to the other blocks (team.h) it measures its next
 * row. gamma and beta wait in shared memory, and bulk copies fetch rows ahead of time. sm_90; rows
 * are multiples of 16 bytes, buffers begin at such, and nothing is added before.
 */
#ifndef LOCKSTEP_KERNELS_NORM_TEAM_H
#define LOCKSTEP_KERNELS_NORM_TEAM_H

#include "norm_registers.h"
#include "team.h"

struct affine_in_shared {
    enum { at_hand = true };
    const uint4 *gamma, *beta;
    __device__ __forceinline__ uint4 get_gamma(void) const
    {
        return *gamma;
    }
    __device__ __forceinline__ uint4 get_beta(void) const
    {
        return *beta;
    }
};

/* Of the whole row, from what the blocks measured: the common mean, then the squares plus those of
 * the means' distances from it. */
template <class T, bool LAYER>
static __device__ __forceinline__ moments hear_moments(const team &t, unsigned turn, long long cols)
{
    unsigned lane = threadIdx.x % 32, vectors = cols / PER<T>;
    float mean = 0, squares = 0;
    heard h;
    hear_team(t, turn, h);
    if (LAYER) {
#pragma unroll
        for (int k = 0; k < TEAM_MOST / 32; k++)
            if (lane + 32 * k < t.size)
                mean = fmaf(min(t.room, vectors - (lane + 32 * k) * t.room) * PER<T>,
                            numbers_of(h, k).x, mean);
        mean = __fdividef(sum_lanes(mean, 32), cols);
    }
#pragma unroll
    for (int k = 0; k < TEAM_MOST / 32; k++) {
        float2 theirs = numbers_of(h, k);
        if (lane + 32 * k >= t.size)
            continue;
        float count = min(t.room, vectors - (lane + 32 * k) * t.room) * PER<T>;
        float apart = theirs.x - mean;
        squares += LAYER ? fmaf(count * apart, apart, theirs.y) : theirs.x;
    }
    return moments{(float)cols, mean, sum_lanes(squares, 32)};
}

/* Of this block's part; tells the others. Two passes: the mean, then the distances. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ unsigned tell_moments(team &t, const uint4 *stage, float factor)
{
    uint4 v[V];
    float of[V] = {}, mean = 0, x[PER<T>];
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x % 32 + 32 * k;
        v[k] = at < t.count ? stage[at] : make_uint4(0, 0, 0, 0);
    }
    if (LAYER) {
#pragma unroll
        for (int k = 0; k < V; k++) {
            widen_all<T>(v[k], x);
#pragma unroll
            for (int i = 0; i < PER<T>; i++)
                of[k] = fmaf(x[i], factor, of[k]);
            mean += of[k];
        }
        mean = __fdividef(sum_lanes(mean, 32), t.count * PER<T>);
    }
    float squares = 0;
#pragma unroll
    for (int k = 0; k < V; k++) {
        widen_all<T>(v[k], x);
        of[k] = 0;
#pragma unroll
        for (int i = 0; i < PER<T>; i++) {
            float distance = LAYER ? fmaf(x[i], factor, -mean) : x[i] * factor;
            of[k] = fmaf(distance, distance, of[k]);
        }
        if (threadIdx.x % 32 + 32 * k < t.count)
            squares += of[k];
    }
    squares = sum_lanes(squares, 32);
    return tell_team(t, LAYER ? make_float2(mean, squares) : make_float2(squares, 0));
}

/* Normalises a row whose moments were told in `turn`. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ void finish_row(norm_job<T> a, team &t, long long row,
                                                  const uint4 *stage, const uint4 *gamma,
                                                  const uint4 *beta, unsigned turn)
{
    unsigned lane = threadIdx.x % 32;
    moments m = hear_moments<T, LAYER>(t, turn, a.cols);
    float factor = factor_for(m, a.cols, a.eps);
    if (factor != 1) { // rarely; all blocks agree
        turn = tell_moments<T, LAYER, V>(t, stage, factor);
        m = hear_moments<T, LAYER>(t, turn, a.cols);
    }
    statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = lane + 32 * k;
        if (at < t.count)
            write_affine<T, LAYER>(a, row, (long long)(t.first + at) * PER<T>, stage[at],
                                   affine_in_shared{gamma + at, beta + at}, st);
    }
    if (lane == 0 && t.rank == 0)
        store_statistics<T, LAYER>(a, row, st);
}

template <class T, bool LAYER, int V, int WARPS, int STAGES>
static __device__ __forceinline__ void norm_team(norm_job<T> a, unsigned long long *slots,
                                                 unsigned size, unsigned room)
{
    extern __shared__ uint4 shared[]; // gamma, LAYER: beta, [32 V]; then [WARPS][STAGES][32 V]
    __shared__ barrier full[WARPS][STAGES];
    team t = team_of(slots, size, room, a.cols / PER<T>, a.rows);
    unsigned warp = threadIdx.x / 32;
    uint4 *gamma = shared, *beta = shared + (LAYER ? 32 * V : 0);
    uint4 *stages = beta + 32 * V + warp * STAGES * 32 * V;
    bool fetches = elect_one();
    auto fetch = [&](unsigned i, unsigned stage) {
        barrier_arrive_expecting(&full[warp][stage], t.count * 16);
        bulk_load(stages + stage * 32 * V,
                  (const uint4 *)(a.x + (long long)(t.row + i * t.step) * a.cols) + t.first, t.count * 16,
                  &full[warp][stage]);
    };
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[warp][k], 1);
        barrier_made();
        for (int k = 0; k < STAGES && k < t.rows; k++)
            fetch(k, k);
    }
    for (unsigned at = threadIdx.x; at < t.count; at += blockDim.x) {
        if (a.has & HAS_GAMMA)
            gamma[at] = ((const uint4 *)a.gamma)[t.first + at];
        if (LAYER && a.has & HAS_BETA)
            beta[at] = ((const uint4 *)a.beta)[t.first + at];
    }
    __syncthreads();
    unsigned stage = 0, parity = 0, before = 0, turn = 0; // of this row; of the one before
    for (unsigned i = 0; i <= t.rows; i++) {
        unsigned told = 0;
        if (i < t.rows) {
            barrier_wait(&full[warp][stage], parity);
            told = tell_moments<T, LAYER, V>(t, stages + stage * 32 * V, 1);
        }
        if (i > 0) {
            finish_row<T, LAYER, V>(a, t, t.row + (i - 1) * t.step, stages + before * 32 * V, gamma,
                                    beta, turn);
            __syncwarp(); // every lane has its part of the stage
            if (fetches && i - 1 + STAGES < t.rows)
                fetch(i - 1 + STAGES, before);
        }
        turn = told;
        before = stage;
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
}

#define NORM_TEAM(type, T, LAYER, VECTORS, WARPS, STAGES)                                          \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)                                    \
        team_##type(NORM_ARGUMENTS(T), unsigned long long *slots, unsigned size, unsigned room)    \
    {                                                                                              \
        norm_team<T, LAYER, VECTORS, WARPS, STAGES>(NORM(T), slots, size, room);                   \
    }                                                                                              \
    NORM_LONG(type, T, LAYER)

#endif
