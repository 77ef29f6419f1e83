/*
 * prefill.h: many queries against the cache: the last `tokens` of each sequence, each of which sees the
 * keys up to its own. A block has 128 queries of the heads that share keys and values, 16 for each warp,
 * and goes through the keys 64 at a time: they are decoded on the way into shared memory, as f16, while
 * the 64 before them are multiplied. Scores, probabilities and sums stay in registers (mma.sync).
 *
 * Loader says how 64 keys are loaded and become f16, in which every number of both formats is exact.
 */
#ifndef LOCKSTEP_KV_CACHE_PREFILL_H
#define LOCKSTEP_KV_CACHE_PREFILL_H

#include "decode.h"
#include "matrix_loads.h"

#define PREFILL_WARPS 8
#define PREFILL_ROWS 128
#define PREFILL_KEYS 64

/* Rows lie 16 bytes apart modulo 128, so that ldmatrix finds the eight rows of a matrix in different
 * banks. */
template <int D> struct tile {
    enum { STRIDE = 2 * D + 16 };
    unsigned char k[PREFILL_KEYS * STRIDE], v[PREFILL_KEYS * STRIDE];
};

/* 64 keys: a thread takes 16 numbers at a time. Keys behind the end become zeros. */
template <int D> struct QuantisedLoader {
    enum { EACH = PREFILL_KEYS * (D / 16) / (32 * PREFILL_WARPS) };
    uint4 k[EACH];
    uint2 v[EACH];
    unsigned scale[EACH];

    __device__ __forceinline__ void load(const cache &c, int sequence, int head, int first, int length)
    {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            int at = (int)threadIdx.x + i * 32 * PREFILL_WARPS, part = at % (D / 16);
            int key = first + at / (D / 16);
            k[i] = make_uint4(0, 0, 0, 0);
            v[i] = make_uint2(0, 0);
            scale[i] = 0;
            if (key < length) {
                long long row = row_of(c, sequence, head, key);
                k[i] = ((const uint4 *)(c.k + row * D))[part];
                v[i] = ((const uint2 *)(c.v + row * (D / 2)))[part];
                scale[i] = c.v_scales[row * (D / 16) + part];
            }
        }
    }
    /* Values 64 times too small, as decode.h has them. */
    __device__ __forceinline__ void store(tile<D> *to) const
    {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            int at = (int)threadIdx.x + i * 32 * PREFILL_WARPS;
            int place = at / (D / 16) * tile<D>::STRIDE + at % (D / 16) * 32;
            unsigned code[4] = {k[i].x, k[i].y, k[i].z, k[i].w}, small[2] = {v[i].x, v[i].y};
            unsigned keys[8], values[8], factor = halves_e4m3(scale[i] | scale[i] << 8);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                keys[2 * j] = halves_e4m3(code[j]);
                keys[2 * j + 1] = halves_e4m3(code[j] >> 16);
            }
#pragma unroll
            for (int j = 0; j < 2; j++) {
                unsigned x = small[j];
                unsigned low = (x << 2 & 0x1c1c1c1c) | (x << 4 & 0x80808080);
                unsigned high = (x >> 2 & 0x1c1c1c1c) | (x & 0x80808080);
#pragma unroll
                for (int t = 0; t < 4; t++)
                    values[4 * j + t] = multiply_halves(
                        halves_e4m3(__byte_perm(low, high, (unsigned)(t * 0x11 + 0x40))), factor);
            }
#pragma unroll
            for (int j = 0; j < 2; j++) {
                *(uint4 *)(to->k + place + 16 * j) = make_uint4(keys[4 * j], keys[4 * j + 1],
                                                                keys[4 * j + 2], keys[4 * j + 3]);
                *(uint4 *)(to->v + place + 16 * j) = make_uint4(values[4 * j], values[4 * j + 1],
                                                                values[4 * j + 2], values[4 * j + 3]);
            }
        }
    }
    static __device__ __forceinline__ float k_scale(const cache &c, int head)
    {
        return c.head_scales[2 * head];
    }
    static __device__ __forceinline__ float v_scale(const cache &c, int head)
    {
        return 64 * c.head_scales[2 * head + 1];
    }
};

/* The same over f16. */
template <int D> struct HalfLoader {
    enum { EACH = PREFILL_KEYS * (D / 8) / (32 * PREFILL_WARPS) };
    uint4 k[EACH], v[EACH];

    __device__ __forceinline__ void load(const cache &c, int sequence, int head, int first, int length)
    {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            int at = (int)threadIdx.x + i * 32 * PREFILL_WARPS, key = first + at / (D / 8);
            k[i] = v[i] = make_uint4(0, 0, 0, 0);
            if (key < length) {
                long long row = row_of(c, sequence, head, key);
                k[i] = ((const uint4 *)(c.k + row * D * 2))[at % (D / 8)];
                v[i] = ((const uint4 *)(c.v + row * D * 2))[at % (D / 8)];
            }
        }
    }
    __device__ __forceinline__ void store(tile<D> *to) const
    {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            int at = (int)threadIdx.x + i * 32 * PREFILL_WARPS;
            int place = at / (D / 8) * tile<D>::STRIDE + at % (D / 8) * 16;
            *(uint4 *)(to->k + place) = k[i];
            *(uint4 *)(to->v + place) = v[i];
        }
    }
    static __device__ __forceinline__ float k_scale(const cache &c, int head) { return 1; }
    static __device__ __forceinline__ float v_scale(const cache &c, int head) { return 1; }
};

/* A block's 128 queries: query `row` is head row % group of token row / group. A lane has rows line and
 * line + 8 of its warp's 16. */
struct queries_of_block {
    int sequence, head, group, tokens, heads, first, last; // rows; behind the last there are none
    int length;
    __device__ __forceinline__ int row(int half) const
    {
        return first + (int)(threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4) + 8 * half;
    }
    __device__ __forceinline__ long long place(int row) const
    {
        return ((long long)sequence * tokens + row / group) * heads + head * group + row % group;
    }
    /* Keys that a query sees. */
    __device__ __forceinline__ int sees(int row) const { return length - tokens + row / group + 1; }
};

template <int D, class T>
static __device__ __forceinline__ void load_operands(const T *q, const queries_of_block &b,
                                                     unsigned (&to)[D / 16][4])
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int row = b.row(half);
        const T *from = q + b.place(min(row, b.last)) * D + threadIdx.x % 4 * 2;
#pragma unroll
        for (int s = 0; s < D / 16; s++)
#pragma unroll
            for (int later = 0; later < 2; later++) {
                const T *pair = from + 16 * s + 8 * later;
                to[s][half + 2 * later] = narrow_pair(widen(pair[0]), widen(pair[1]), f16());
            }
    }
}

/* What a warp knows of its rows: of line and line + 8. */
template <int D> struct rows_state {
    float most[2], sum[2];
    float o[D / 8][4];
};

/* Scores of 64 keys, times scale, with -infinity where a query does not see a key. */
template <int D>
static __device__ __forceinline__ void score_keys(float (&score)[PREFILL_KEYS / 8][4],
                                                  const unsigned (&q)[D / 16][4], unsigned k, float scale,
                                                  const int (&sees)[2], int first)
{
    unsigned lane = threadIdx.x % 32;
    k += (lane % 8 + lane / 16 * 8) * tile<D>::STRIDE + lane / 8 % 2 * 16;
#pragma unroll
    for (int n = 0; n < PREFILL_KEYS / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            score[n][i] = 0;
#pragma unroll
    for (int s = 0; s < D / 16; s++)
#pragma unroll
        for (int n = 0; n < PREFILL_KEYS / 8; n += 2) {
            unsigned b[4];
            load_matrices(b, k + (unsigned)(n * 8 * tile<D>::STRIDE + s * 32));
            multiply_add(score[n], q[s], b[0], b[1]);
            multiply_add(score[n + 1], q[s], b[2], b[3]);
        }
    bool all = first + PREFILL_KEYS <= min(sees[0], sees[1]);
#pragma unroll
    for (int n = 0; n < PREFILL_KEYS / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int key = first + n * 8 + (int)(lane % 4) * 2 + i % 2;
            score[n][i] = all || key < sees[i / 2] ? score[n][i] * scale : -INFINITY;
        }
}

/* One step of the online softmax: scores become probabilities. */
template <int D>
static __device__ __forceinline__ void weigh(rows_state<D> &s, float (&score)[PREFILL_KEYS / 8][4])
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float most = s.most[half], sum = 0;
#pragma unroll
        for (int n = 0; n < PREFILL_KEYS / 8; n++)
            most = fmaxf(most, fmaxf(score[n][2 * half], score[n][2 * half + 1]));
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
        float from = most == -INFINITY ? 0 : most; // nothing seen yet: all weights are 0
        float shrink = power_of_two(s.most[half] - from);
#pragma unroll
        for (int n = 0; n < PREFILL_KEYS / 8; n++)
#pragma unroll
            for (int i = 2 * half; i < 2 * half + 2; i++) {
                score[n][i] = power_of_two(score[n][i] - from);
                sum += score[n][i];
            }
        s.most[half] = most;
        s.sum[half] = s.sum[half] * shrink + sum;
#pragma unroll
        for (int n = 0; n < D / 8; n++)
#pragma unroll
            for (int i = 2 * half; i < 2 * half + 2; i++)
                s.o[n][i] *= shrink;
    }
}

template <int D>
static __device__ __forceinline__ void add_values(rows_state<D> &s,
                                                  const float (&weight)[PREFILL_KEYS / 8][4], unsigned v)
{
    unsigned lane = threadIdx.x % 32;
    v += (lane % 16) * tile<D>::STRIDE + lane / 16 * 16;
#pragma unroll
    for (int step = 0; step < PREFILL_KEYS / 16; step++) {
        const float(&low)[4] = weight[2 * step], (&high)[4] = weight[2 * step + 1];
        unsigned a[4] = {narrow_pair(low[0], low[1], f16()), narrow_pair(low[2], low[3], f16()),
                         narrow_pair(high[0], high[1], f16()), narrow_pair(high[2], high[3], f16())};
#pragma unroll
        for (int n = 0; n < D / 8; n += 2) {
            unsigned b[4];
            load_transposed(b, v + (unsigned)(step * 16 * tile<D>::STRIDE + n * 16));
            multiply_add(s.o[n], a, b[0], b[1]);
            multiply_add(s.o[n + 1], a, b[2], b[3]);
        }
    }
}

template <int D, class T>
static __device__ __forceinline__ void store_rows(const rows_state<D> &s, const queries_of_block &b, T *o,
                                                  float scale)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int row = b.row(half);
        float sum = s.sum[half];
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
        sum += __shfl_xor_sync(0xffffffff, sum, 2);
        float factor = sum > 0 ? scale / sum : 0;
        if (row > b.last)
            continue;
        unsigned *to = (unsigned *)(o + b.place(row) * D) + threadIdx.x % 4;
#pragma unroll
        for (int n = 0; n < D / 8; n++)
            to[4 * n] = narrow_pair(s.o[n][2 * half] * factor, s.o[n][2 * half + 1] * factor, T());
    }
}

/* Block x of the grid: queries from the end, which see most, to the beginning. */
template <int D, class Loader, class T>
static __device__ __forceinline__ void prefill(const T *q, T *o, const cache &c, int tokens,
                                               float softmax_scale, tile<D> *tiles)
{
    int group = c.heads / c.kv_heads, all = tokens * group;
    int blocks = (all + PREFILL_ROWS - 1) / PREFILL_ROWS, number = (int)blockIdx.x / blocks;
    int first = (blocks - 1 - (int)blockIdx.x % blocks) * PREFILL_ROWS;
    queries_of_block b = {number / c.kv_heads, number % c.kv_heads, group, tokens, c.heads, first, all - 1, 0};
    b.length = c.lengths[b.sequence];
    int keys = min(b.sees(min(first + PREFILL_ROWS, all) - 1), b.length);
    int sees[2] = {b.sees(b.row(0)), b.sees(b.row(1))};
    unsigned operands[D / 16][4];
    float scale = softmax_scale * LOG2_E * Loader::k_scale(c, b.head);
    rows_state<D> s = {};
    s.most[0] = s.most[1] = -INFINITY;
    load_operands<D>(q, b, operands);
    Loader next;
    if (keys > 0) {
        next.load(c, b.sequence, b.head, 0, keys);
        next.store(&tiles[0]);
    }
    __syncthreads();
#pragma unroll 1
    for (int at = 0, now = 0; at < keys; at += PREFILL_KEYS, now ^= 1) {
        float score[PREFILL_KEYS / 8][4];
        bool more = at + PREFILL_KEYS < keys;
        if (more) // on its way while these are multiplied
            next.load(c, b.sequence, b.head, at + PREFILL_KEYS, keys);
        score_keys<D>(score, operands, shared_address(tiles[now].k), scale, sees, at);
        weigh(s, score);
        add_values(s, score, shared_address(tiles[now].v));
        if (more)
            next.store(&tiles[now ^ 1]);
        __syncthreads();
    }
    store_rows(s, b, o, Loader::v_scale(c, b.head));
}

#define PREFILL_KERNEL(name, D, Loader, T)                                                         \
    extern "C" __global__ void __launch_bounds__(32 * PREFILL_WARPS, 1)                            \
        name(const T *q, T *o, CACHE_PARAMETERS, int tokens, float softmax_scale)                  \
    {                                                                                              \
        extern __shared__ __align__(16) unsigned char shared[]; /* two tiles */                    \
        prefill<D, Loader<D>>(q, o, CACHE_ARGUMENTS, tokens, softmax_scale, (tile<D> *)shared);    \
    }

#endif
