/*
 * norm_gradient_team.h: all gradients of norms in one read of x and dy, of long rows that go over a
 * team of blocks, up to one on every SM. A block has the same columns of every row, and a warp
 * takes the block's part of a row by itself: no barrier, and while its sums are on their way to the
 * other blocks (team.h) it adds up its next row. A lane's columns are always the same, so dgamma
 * and dbeta are summed in registers; a block adds up what its warps found. With one team these are
 * the results, else partial sums of the teams. Bulk copies fetch rows ahead of time. sm_90; rows
 * are multiples of 16 bytes, buffers begin at such, and no gradient reached the sum itself.
 */
#ifndef LOCKSTEP_KERNELS_NORM_GRADIENT_TEAM_H
#define LOCKSTEP_KERNELS_NORM_GRADIENT_TEAM_H

#include "norm_gradient_stages.h"
#include "team.h"

/* gamma waits widened, in quarters of 16 bytes: [PER / 4][32 V]. */
template <class T, int V>
static __device__ __forceinline__ void get_gamma(const float4 *gamma, unsigned at,
                                                 float (&g)[PER<T>])
{
#pragma unroll
    for (int i = 0; i < PER<T>; i += 4) {
        float4 four = gamma[i / 4 * 32 * V + at];
        g[i] = four.x, g[i + 1] = four.y, g[i + 2] = four.z, g[i + 3] = four.w;
    }
}

/* This lane's sums over the rows. */
template <class T, int V> struct lane_sums {
    float gamma[V][PER<T>], beta[V][PER<T>];
};

/* Adds a row to its columns; tells the others this block's sums of w h and w. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ unsigned tell_sums(team &t, const uint4 *x, const uint4 *dy,
                                                     const float4 *gamma, row_stats st,
                                                     lane_sums<T, V> *columns)
{
    float2 sums = make_float2(0, 0);
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x % 32 + 32 * k;
        float g[PER<T>], h[PER<T>], d[PER<T>];
        if (at >= t.count)
            continue;
        get_gamma<T, V>(gamma, at, g);
        widen_all<T>(x[at], h);
        widen_all<T>(dy[at], d);
#pragma unroll
        for (int i = 0; i < PER<T>; i++) {
            float normed = normal<LAYER>(h[i], st), w = d[i] * g[i];
            columns->gamma[k][i] = fmaf(d[i], normed, columns->gamma[k][i]);
            sums.x = fmaf(w, normed, sums.x);
            if (LAYER) {
                columns->beta[k][i] += d[i];
                sums.y += w;
            }
        }
    }
    return tell_team(t, sum_lanes<LAYER>(sums, 32));
}

template <bool LAYER>
static __device__ __forceinline__ float2 hear_sums(const team &t, unsigned turn)
{
    float2 sums = make_float2(0, 0);
    heard h;
    hear_team(t, turn, h);
#pragma unroll
    for (int k = 0; k < TEAM_MOST / 32; k++)
        if (threadIdx.x % 32 + 32 * k < t.size) {
            sums.x += numbers_of(h, k).x;
            sums.y += numbers_of(h, k).y;
        }
    return sum_lanes<LAYER>(sums, 32);
}

/* dx of a row whose sums were told in `turn`: rstd (w - mean(w) - (x - mean) rstd mean(w h)). */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ void
write_slopes(gradient_job<T> a, const team &t, long long row, const uint4 *x, const uint4 *dy,
             const float4 *gamma, row_stats st, unsigned turn)
{
    float2 sums = hear_sums<LAYER>(t, turn);
    float share = 1.0f / a.cols, slope = -st.rstd * (sums.x * share), mean = sums.y * share;
    uint4 *to = (uint4 *)(a.dx + row * a.cols) + t.first;
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = threadIdx.x % 32 + 32 * k;
        float g[PER<T>], w[PER<T>], d[PER<T>];
        if (at >= t.count)
            continue;
        get_gamma<T, V>(gamma, at, g);
        widen_all<T>(x[at], w);
        widen_all<T>(dy[at], d);
#pragma unroll
        for (int i = 0; i < PER<T>; i++) {
            float rest = LAYER ? fmaf(w[i] - st.mean, slope, -mean) : w[i] * slope;
            w[i] = st.rstd * fmaf(d[i], g[i], rest);
        }
        store_stream(to + at, narrow_all<T>(w));
    }
}

/* What all warps of the block found, in the order of the warps. */
template <class T, bool LAYER, int V, int WARPS>
static __device__ __forceinline__ void add_warps(gradient_job<T> a, const team &t, float *sums,
                                                 const lane_sums<T, V> &columns, T *dgamma,
                                                 T *dbeta)
{
    const unsigned wide = 32 * V * PER<T>; // sums: [WARPS][wide] of gamma, then of beta
    unsigned warp = threadIdx.x / 32, teams = gridDim.x / t.size, number = blockIdx.x / t.size;
    float *mine = sums + warp * wide;
#pragma unroll
    for (int k = 0; k < V; k++)
#pragma unroll
        for (int i = 0; i < PER<T>; i += 4) {
            float *to = mine + (threadIdx.x % 32 + 32 * k) * PER<T> + i;
            const float *g = &columns.gamma[k][i], *b = &columns.beta[k][i];
            *(float4 *)to = make_float4(g[0], g[1], g[2], g[3]);
            if (LAYER)
                *(float4 *)(to + WARPS * wide) = make_float4(b[0], b[1], b[2], b[3]);
        }
    __syncthreads();
    for (unsigned at = threadIdx.x; at < t.count * PER<T>; at += blockDim.x)
        for (unsigned which = 0; which < (LAYER ? 2 : 1); which++) {
            long long col = (long long)t.first * PER<T> + at;
            float sum = 0;
#pragma unroll
            for (int k = 0; k < WARPS; k++)
                sum += sums[(which * WARPS + k) * wide + at];
            if (teams == 1)
                narrow(sum, (which ? dbeta : dgamma) + col);
            else
                a.partial[(which * teams + number) * a.cols + col] = sum;
        }
}

template <class T, bool LAYER, int V, int WARPS, int STAGES>
static __device__ __forceinline__ void gradient_team(gradient_job<T> a, unsigned long long *slots,
                                                     unsigned size, unsigned room, T *dgamma,
                                                     T *dbeta)
{
    extern __shared__ uint4 shared[]; // gamma [PER / 4][32 V]; then [WARPS][STAGES][x, dy][32 V]
    __shared__ barrier full[WARPS][STAGES];
    team t = team_of(slots, size, room, a.cols / PER<T>, a.rows);
    unsigned warp = threadIdx.x / 32;
    float4 *gamma = (float4 *)shared;
    uint4 *all = shared + PER<T> / 4 * 32 * V, *stages = all + warp * STAGES * 64 * V;
    bool fetches = elect_one();
    auto fetch = [&](unsigned i, unsigned stage) {
        uint4 *to = stages + stage * 64 * V;
        long long from = (long long)(t.row + i * t.step) * a.cols + (long long)t.first * PER<T>;
        barrier_arrive_expecting(&full[warp][stage], t.count * 32);
        bulk_load(to, a.x + from, t.count * 16, &full[warp][stage]);
        bulk_load(to + 32 * V, a.dy + from, t.count * 16, &full[warp][stage]);
    };
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[warp][k], 1);
        barrier_made();
        for (int k = 0; k < STAGES && k < t.rows; k++)
            fetch(k, k);
    }
    for (unsigned at = threadIdx.x; at < t.count; at += blockDim.x) {
        float g[PER<T>];
        gamma_at(a, (long long)(t.first + at) * PER<T>, g);
#pragma unroll
        for (int i = 0; i < PER<T>; i += 4)
            gamma[i / 4 * 32 * V + at] = make_float4(g[i], g[i + 1], g[i + 2], g[i + 3]);
    }
    __syncthreads();
    lane_sums<T, V> columns = {};
    unsigned stage = 0, parity = 0, before = 0, turn = 0;
    row_stats st = {0, 0}, last = {0, 0}, ahead = {0, 0};
    if (t.rows > 0)
        ahead = stats_of<T, LAYER>(a, t.row);
    for (unsigned i = 0; i <= t.rows; i++) {
        unsigned told = 0;
        if (i < t.rows) {
            const uint4 *here = stages + stage * 64 * V;
            st = ahead;
            if (i + 1 < t.rows)
                ahead = stats_of<T, LAYER>(a, t.row + (i + 1) * t.step);
            barrier_wait(&full[warp][stage], parity);
            told = tell_sums<T, LAYER, V>(t, here, here + 32 * V, gamma, st, &columns);
        }
        if (i > 0) {
            const uint4 *here = stages + before * 64 * V;
            write_slopes<T, LAYER, V>(a, t, t.row + (i - 1) * t.step, here, here + 32 * V, gamma,
                                      last, turn);
            __syncwarp(); // every lane has its part of the stage
            if (fetches && i - 1 + STAGES < t.rows)
                fetch(i - 1 + STAGES, before);
        }
        turn = told;
        last = st;
        before = stage;
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    if (!(a.has & HAS_GAMMA))
        return;
    __syncthreads(); // the stages are free
    add_warps<T, LAYER, V, WARPS>(a, t, (float *)all, columns, dgamma, dbeta);
}

#define NORM_GRADIENT_TEAM(type, T, LAYER, VECTORS, WARPS, STAGES)                                 \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)                                    \
        team_##type(GRADIENT_ARGUMENTS(T), unsigned long long *slots, unsigned size,               \
                    unsigned room, T *dgamma, T *dbeta)                                            \
    {                                                                                              \
        gradient_team<T, LAYER, VECTORS, WARPS, STAGES>(GRADIENT(T), slots, size, room, dgamma,    \
                                                        dbeta);                                    \
    }                                                                                              \
    NORM_LONG_PASSES(type, T, LAYER)

#endif
