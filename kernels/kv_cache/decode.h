/*
 * decode.h: one query a head against the cache, on the tensor cores, for up to 8 heads that share keys
 * and values. A warp takes 16 keys at a time: S^T = K Q^T, then O^T += V^T P^T, so that K and V are the
 * operands with 16 rows and none is wasted on padding. Which dimension of K is whose operand does not
 * matter as long as Q agrees, so a lane takes what lies side by side in memory. Warps of a block and
 * blocks of a cluster have keys of their own, and add up what they found at the end.
 *
 * Cache says how 16 keys are loaded and become f16, in which every number of both formats is exact.
 */
#ifndef LOCKSTEP_KV_CACHE_DECODE_H
#define LOCKSTEP_KV_CACHE_DECODE_H

#include "cache.h"

static __device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/* Of 8 x 8 halves, two to a lane. */
static __device__ __forceinline__ unsigned transpose(unsigned pair)
{
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(pair));
    return pair;
}
static __device__ __forceinline__ unsigned multiply_halves(unsigned a, unsigned b)
{
    asm("mul.rn.f16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
    return a;
}

/* A lane with number l is in column l % 4 and row l / 4 of operands. Of keys r and r + 8 (r its row) it
 * has D / 4 numbers: those of step s are operand registers of the product's step s. Of values it has
 * D / 8 numbers, those of its row, of keys 2 c, 2 c + 1 and 8 further on. */
template <int D> struct QuantisedCache {
    enum { WORDS = D / 16 }; // of a key in a lane; a value has half as many
    unsigned k[2][WORDS];
    unsigned v[4][WORDS / 4];
    unsigned scale[4];

    __device__ __forceinline__ void load(const cache &c, long long row)
    {
        int line = threadIdx.x % 32 / 4, column = threadIdx.x % 4;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const uint4 *from = (const uint4 *)(c.k + (row + line + 8 * half) * D) + column;
#pragma unroll
            for (int i = 0; i < WORDS / 4; i++) {
                uint4 x = load_stream(from + 4 * i);
                k[half][4 * i] = x.x, k[half][4 * i + 1] = x.y;
                k[half][4 * i + 2] = x.z, k[half][4 * i + 3] = x.w;
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            long long here = row + 2 * column + i % 2 + i / 2 * 8;
            const unsigned *from = (const unsigned *)(c.v + here * (D / 2)) + line * (D / 64);
            if constexpr (D == 128) {
                uint2 x = *(const uint2 *)from;
                v[i][0] = x.x, v[i][1] = x.y;
            } else {
                v[i][0] = *from;
            }
            scale[i] = c.v_scales[here * (D / 16) + line * D / 128];
        }
    }
    /* Only the first `count` keys are there: what lies behind them may be NaN, and 0 times that too. */
    __device__ __forceinline__ void limit(int count)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (2 * (int)(threadIdx.x % 4) + i % 2 + i / 2 * 8 >= count)
                scale[i] = 0;
    }
    /* Operand K of step s. */
    __device__ __forceinline__ void keys(int s, unsigned (&a)[4]) const
    {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            a[half] = halves_e4m3(k[half][s]);
            a[2 + half] = halves_e4m3(k[half][s] >> 16);
        }
    }
    /* Before values: a code of 4 bits is one of e4m3, 64 times too small, when its bits are moved. Low
     * halves of bytes come first. */
    __device__ __forceinline__ void unpack(unsigned (&low)[4][WORDS / 4],
                                           unsigned (&high)[4][WORDS / 4], unsigned (&scales)[2]) const
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < WORDS / 4; j++) {
                unsigned x = v[i][j];
                low[i][j] = (x << 2 & 0x1c1c1c1c) | (x << 4 & 0x80808080);
                high[i][j] = (x >> 2 & 0x1c1c1c1c) | (x & 0x80808080);
            }
        scales[0] = halves_e4m3(scale[0] | scale[1] << 8);
        scales[1] = halves_e4m3(scale[2] | scale[3] << 8);
    }
    /* All operands V: tile t has numbers 2 t and 2 t + 1 of each lane's row, byte t % 4 of a word. */
    template <class F> __device__ __forceinline__ void values(F use) const
    {
        unsigned low[4][WORDS / 4], high[4][WORDS / 4], scales[2];
        unpack(low, high, scales);
#pragma unroll
        for (int t = 0; t < D / 16; t++) {
            unsigned a[4], choice = (unsigned)(t % 4 * 0x11 + 0x40); // of one key, then of the other
#pragma unroll
            for (int later = 0; later < 2; later++) {
                unsigned even = __byte_perm(low[2 * later][t / 4], low[2 * later + 1][t / 4], choice);
                unsigned odd = __byte_perm(high[2 * later][t / 4], high[2 * later + 1][t / 4], choice);
                a[2 * later] = multiply_halves(halves_e4m3(even), scales[later]);
                a[2 * later + 1] = multiply_halves(halves_e4m3(odd), scales[later]);
            }
            use(t, a);
        }
    }
    static __device__ __forceinline__ int k_number(int s, int column, int i)
    {
        return s / 4 * 64 + column * 16 + s % 4 * 4 + i;
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

/* The same over f16, for comparison. */
template <int D> struct HalfCache {
    enum { WORDS = D / 8 };
    unsigned k[2][WORDS];
    unsigned v[4][WORDS / 2];

    __device__ __forceinline__ void load(const cache &c, long long row)
    {
        int line = threadIdx.x % 32 / 4, column = threadIdx.x % 4;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const uint4 *from = (const uint4 *)(c.k + (row + line + 8 * half) * D * 2) + column;
#pragma unroll
            for (int i = 0; i < WORDS / 4; i++) {
                uint4 x = load_stream(from + 4 * i);
                k[half][4 * i] = x.x, k[half][4 * i + 1] = x.y;
                k[half][4 * i + 2] = x.z, k[half][4 * i + 3] = x.w;
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            long long here = row + 2 * column + i % 2 + i / 2 * 8;
            const uint4 *from = (const uint4 *)(c.v + here * D * 2) + line * (D / 64);
#pragma unroll
            for (int j = 0; j < D / 64; j++) {
                uint4 x = load_stream(from + j);
                v[i][4 * j] = x.x, v[i][4 * j + 1] = x.y;
                v[i][4 * j + 2] = x.z, v[i][4 * j + 3] = x.w;
            }
        }
    }
    __device__ __forceinline__ void limit(int count)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < WORDS / 2; j++)
                if (2 * (int)(threadIdx.x % 4) + i % 2 + i / 2 * 8 >= count)
                    v[i][j] = 0;
    }
    __device__ __forceinline__ void keys(int s, unsigned (&a)[4]) const
    {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            a[half] = k[half][2 * s];
            a[2 + half] = k[half][2 * s + 1];
        }
    }
    template <class F> __device__ __forceinline__ void values(F use) const
    {
#pragma unroll
        for (int t = 0; t < D / 16; t++) {
            unsigned a[4];
#pragma unroll
            for (int later = 0; later < 2; later++) {
                a[2 * later] = __byte_perm(v[2 * later][t], v[2 * later + 1][t], 0x5410);
                a[2 * later + 1] = __byte_perm(v[2 * later][t], v[2 * later + 1][t], 0x7632);
            }
            use(t, a);
        }
    }
    static __device__ __forceinline__ int k_number(int s, int column, int i)
    {
        return s / 2 * 32 + column * 8 + s % 2 * 4 + i;
    }
    static __device__ __forceinline__ float k_scale(const cache &c, int head) { return 1; }
    static __device__ __forceinline__ float v_scale(const cache &c, int head) { return 1; }
};

/* What a warp knows of its keys: of queries 2 c and 2 c + 1 the largest score and this lane's part of
 * the sum; and O^T. */
template <int D> struct state {
    float most[2], sum[2];
    float o[D / 16][4];
};

static __device__ __forceinline__ float max_lines(float x)
{
    for (int distance = 4; distance < 32; distance *= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, distance));
    return x;
}
static __device__ __forceinline__ float sum_lines(float x)
{
    for (int distance = 4; distance < 32; distance *= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

/* 16 keys, of which `count` are there. scale: of scores, times log2(e). */
template <int D, class Cache>
static __device__ __forceinline__ void add_keys(state<D> &s, const Cache &c,
                                                const unsigned (&q)[D / 16][2], float scale, int count)
{
    int line = threadIdx.x % 32 / 4;
    float score[4] = {};
#pragma unroll
    for (int step = 0; step < D / 16; step++) {
        unsigned a[4];
        c.keys(step, a);
        multiply_add(score, a, q[step][0], q[step][1]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        score[i] = line + i / 2 * 8 < count ? score[i] * scale : -INFINITY;
    float next[2];
    bool larger = false;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        next[j] = fmaxf(s.most[j], max_lines(fmaxf(score[j], score[2 + j])));
        larger |= next[j] > s.most[j];
    }
    if (__any_sync(0xffffffff, larger)) {
        float shrink[2];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            shrink[j] = s.most[j] == next[j] ? 1 : power_of_two(s.most[j] - next[j]);
            s.most[j] = next[j];
            s.sum[j] *= shrink[j];
        }
#pragma unroll
        for (int t = 0; t < D / 16; t++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                s.o[t][i] *= shrink[i % 2];
    }
    float p[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        p[i] = score[i] == -INFINITY ? 0 : power_of_two(score[i] - s.most[i % 2]);
    s.sum[0] += p[0] + p[2];
    s.sum[1] += p[1] + p[3];
    unsigned b0 = transpose(narrow_pair(p[0], p[1], f16())), b1 = transpose(narrow_pair(p[2], p[3], f16()));
    c.values([&](int t, const unsigned(&a)[4]) { multiply_add(s.o[t], a, b0, b1); });
}

static __device__ __forceinline__ float load_from_block(const float *at, unsigned rank)
{
    float x;
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %1, %2; "
                 "ld.shared::cluster.f32 %0, [there]; }"
                 : "=f"(x)
                 : "r"(shared_address(at)), "r"(rank));
    return x;
}
static __device__ __forceinline__ void cluster_sync(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
}

/* What a block found, in shared memory: of each query the largest score, the sum and O. */
template <int D> struct found {
    float most[8], sum[8], o[8][D + 1];
};

/* The warps' states become one; `of_warp` has a place for each warp. */
template <int D, int WARPS>
static __device__ __forceinline__ void merge_warps(state<D> &s, found<D> *of_warp, found<D> *all)
{
    int warp = threadIdx.x / 32, line = threadIdx.x % 32 / 4, column = threadIdx.x % 4;
    found<D> *mine = &of_warp[warp];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        float sum = sum_lines(s.sum[j]);
        if (line == 0) {
            mine->most[2 * column + j] = s.most[j];
            mine->sum[2 * column + j] = sum;
        }
#pragma unroll
        for (int t = 0; t < D / 16; t++) {
            mine->o[2 * column + j][line * (D / 8) + 2 * t] = s.o[t][j];
            mine->o[2 * column + j][line * (D / 8) + 2 * t + 1] = s.o[t][2 + j];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 8 * D; i += 32 * WARPS) {
        int query = i / D, number = i % D;
        float most = -INFINITY, sum = 0, o = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            most = fmaxf(most, of_warp[w].most[query]);
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            float weight = of_warp[w].most[query] == -INFINITY
                               ? 0
                               : power_of_two(of_warp[w].most[query] - most);
            sum += weight * of_warp[w].sum[query];
            o += weight * of_warp[w].o[query][number];
        }
        all->o[query][number] = o;
        if (number == 0) {
            all->most[query] = most;
            all->sum[query] = sum;
        }
    }
}

/* And the blocks' results, each block some queries' numbers. */
template <int D, class T>
static __device__ __forceinline__ void merge_blocks(const found<D> *all, T *o, int queries, float scale,
                                                    unsigned rank, unsigned parts, unsigned threads)
{
    for (unsigned i = rank * threads + threadIdx.x; i < (unsigned)queries * D; i += parts * threads) {
        unsigned query = i / D, number = i % D;
        float most = -INFINITY, sum = 0, value = 0;
        for (unsigned part = 0; part < parts; part++)
            most = fmaxf(most, parts > 1 ? load_from_block(&all->most[query], part) : all->most[query]);
        for (unsigned part = 0; part < parts; part++) {
            const float *at[3] = {&all->most[query], &all->sum[query], &all->o[query][number]};
            float x[3];
#pragma unroll
            for (int k = 0; k < 3; k++)
                x[k] = parts > 1 ? load_from_block(at[k], part) : *at[k];
            float weight = x[0] == -INFINITY ? 0 : power_of_two(x[0] - most);
            sum += weight * x[1];
            value += weight * x[2];
        }
        narrow(sum > 0 ? value / sum * scale : 0, &o[i]);
    }
}

/* Queries as operands of K's order. */
template <int D, class Cache, class T>
static __device__ __forceinline__ void load_queries(const T *q, int queries, unsigned (&to)[D / 16][2])
{
    int line = threadIdx.x % 32 / 4, column = threadIdx.x % 4;
#pragma unroll
    for (int s = 0; s < D / 16; s++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float x[2] = {};
            for (int j = 0; j < 2; j++)
                if (line < queries)
                    x[j] = widen(q[line * D + Cache::k_number(s, column, 2 * i + j)]);
            to[s][i] = narrow_pair(x[0], x[1], f16());
        }
}

/* What block x of the grid has: groups of 16 keys of one head of one sequence. */
struct part_of_keys {
    unsigned rank, parts;
    int sequence, head, queries, length, group, end;
    long long first; // of its queries
};
static __device__ __forceinline__ part_of_keys part_of_block(const cache &c, unsigned parts)
{
    unsigned rank = blockIdx.x % parts, number = blockIdx.x / parts;
    int sequence = number / c.kv_heads, head = number % c.kv_heads, queries = c.heads / c.kv_heads;
    int length = c.lengths[sequence], groups = (length + 15) / 16;
    int each = (groups + parts - 1) / parts;
    return {rank,
            parts,
            sequence,
            head,
            queries,
            length,
            (int)rank * each,
            min((int)(rank + 1) * each, groups),
            (long long)sequence * c.heads + head * queries};
}

template <int D, int WARPS, class T>
static __device__ __forceinline__ void finish_decode(state<D> &s, T *o, const part_of_keys &p, float scale,
                                                     found<D> *of_warp, found<D> *all)
{
    merge_warps<D, WARPS>(s, of_warp, all);
    if (p.parts > 1)
        cluster_sync();
    else
        __syncthreads();
    merge_blocks(all, o, p.queries, scale, p.rank, p.parts, 32 * WARPS);
    if (p.parts > 1)
        cluster_sync(); // the others may still read this block's
}

template <int D, int WARPS, class Cache, class T>
static __device__ __forceinline__ void decode(const T *q, T *o, cache c, float softmax_scale,
                                              unsigned parts, found<D> *of_warp, found<D> *all)
{
    part_of_keys p = part_of_block(c, parts);
    unsigned operands[D / 16][2];
    state<D> s = {};
    s.most[0] = s.most[1] = -INFINITY;
    load_queries<D, Cache>(q + p.first * D, p.queries, operands);
    float scale = softmax_scale * LOG2_E * Cache::k_scale(c, p.head);
    int group = p.group + (int)threadIdx.x / 32;
    Cache next;
    if (group < p.end)
        next.load(c, row_of(c, p.sequence, p.head, 16 * group));
#pragma unroll 1
    for (; group < p.end; group += WARPS) {
        Cache now = next;
        if (group + WARPS < p.end) // on its way while this one is multiplied
            next.load(c, row_of(c, p.sequence, p.head, 16 * (group + WARPS)));
        if (p.length - 16 * group < 16)
            now.limit(p.length - 16 * group);
        add_keys(s, now, operands, scale, p.length - 16 * group);
    }
    finish_decode<D, WARPS>(s, o + p.first * D, p, Cache::v_scale(c, p.head), of_warp, all);
}

#define DECODE_KERNEL(name, D, WARPS, RESIDENT, Cache, T)                                          \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)                             \
        name(const T *q, T *o, CACHE_PARAMETERS, float softmax_scale, unsigned parts)              \
    {                                                                                              \
        __shared__ found<D> of_warp[WARPS], all;                                                   \
        decode<D, WARPS, Cache<D>>(q, o, CACHE_ARGUMENTS, softmax_scale, parts, of_warp, &all);    \
    }

#endif
