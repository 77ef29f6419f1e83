/*
 * decode.h: one query a head against the cache, on the tensor cores, for up to 8 heads that share
 * keys and values. A warp takes 16 keys at a time: S^T = K Q^T, then O^T += V^T P^T, so that K and
 * V are the operands with 16 rows and none is wasted on padding. Which dimension of K is whose
 * operand does not matter as long as Q agrees, so a lane takes what lies side by side in memory.
 * Warps of a block and blocks of a cluster have keys of their own, and add up what they found at
 * the end.
 *
 * Cache says how 16 keys are loaded and become f16, in which every number of both formats is exact.
 * An f16 cache comes into registers, 16 keys ahead. Quantised keys have more to be done for each
 * byte, so there a warp has several groups of 16 on their way, into shared memory.
 */
#ifndef LOCKSTEP_KV_CACHE_DECODE_H
#define LOCKSTEP_KV_CACHE_DECODE_H

#include "merge.h"

static __device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4],
                                                    unsigned b0, unsigned b1)
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

/* Four numbers. As one statement, or each upper half takes a shift. */
static __device__ __forceinline__ void widen_e4m3(unsigned word, unsigned &low, unsigned &high)
{
    asm("{ .reg .b16 x, y; mov.b32 {x, y}, %2; cvt.rn.f16x2.e4m3x2 %0, x; "
        "cvt.rn.f16x2.e4m3x2 %1, y; }"
        : "=r"(low), "=r"(high)
        : "r"(word));
}
/* Bits 2 to 4 of each byte of `sizes`, all others of `signs`: as one instruction. */
static __device__ __forceinline__ unsigned put_sizes(unsigned sizes, unsigned signs)
{
    unsigned both;
    asm("lop3.b32 %0, %1, %2, 0x1c1c1c1c, 0xe4;" : "=r"(both) : "r"(sizes), "r"(signs));
    return both;
}

/* A lane with number l is in column l % 4 and row l / 4 of operands. Of keys r and r + 8 (r its
 * row) it has D / 4 numbers: those of step s are operand registers of the product's step s. Of
 * values it has D / 8 numbers, those of its row, of keys 2 c, 2 c + 1 and 8 further on. */
template <int D> struct QuantisedCache {
    enum { WORDS = D / 16 }; // of a key in a lane; a value has half as many
    enum {
        V = 16 * D,
        SCALES = 24 * D,
        BYTES = 25 * D
    }; // of 16 keys in shared memory: K, V, scales
    unsigned k[2][WORDS];
    unsigned v[4][WORDS / 4];
    unsigned scale[4];

    /* Where 16 bytes of a key or value lie. With 128 numbers, such that the lanes of a load meet
     * all banks: of two neighbouring keys, halves are swapped in the second; pairs of values fill
     * 128 bytes, in which each of four pairs begins elsewhere. */
    static __device__ __forceinline__ unsigned k_place(int key, int part)
    {
        return key * D + (D == 128 ? part ^ key % 2 * 4 : part) * 16;
    }
    static __device__ __forceinline__ unsigned v_place(int key, int part)
    {
        int inside = key % 2 * (D / 32) + part;
        return V + key / 2 * D + (D == 128 ? inside ^ key / 2 % 4 * 2 : inside) * 16;
    }
    /* Begins to copy 16 keys from a row of the cache on, 16 bytes a lane at a time. */
    static __device__ __forceinline__ void copy(unsigned to, const cache &c, long long row)
    {
        int lane = threadIdx.x % 32;
        unsigned k_to = to + k_place(lane / (D / 16), lane % (D / 16));
        unsigned v_to = to + v_place(lane / (D / 32), lane % (D / 32));
#pragma unroll
        for (int i = 0; i < 16 * D; i += 512)
            copy_async_16_to(k_to + i, c.k + row * D + lane * 16 + i, 16);
#pragma unroll
        for (int i = 0; i < 8 * D; i += 512)
            copy_async_16_to(v_to + i, c.v + row * (D / 2) + lane * 16 + i, 16);
        if (lane < D / 16)
            copy_async_16_to(to + SCALES + lane * 16, c.v_scales + row * (D / 16) + lane * 16, 16);
    }
    __device__ __forceinline__ void load(const unsigned char *from)
    {
        int line = threadIdx.x % 32 / 4, column = threadIdx.x % 4;
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int i = 0; i < WORDS / 4; i++) {
                uint4 x = *(const uint4 *)(from + k_place(line, column + 4 * i) + half * 8 * D);
                k[half][4 * i] = x.x, k[half][4 * i + 1] = x.y;
                k[half][4 * i + 2] = x.z, k[half][4 * i + 3] = x.w;
            }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int at = line * (D / 16); // of a value's bytes
            const unsigned char *here =
                from + v_place(2 * column + i % 2, at / 16) + at % 16 + i / 2 * 4 * D;
            if constexpr (D == 128) {
                uint2 x = *(const uint2 *)here;
                v[i][0] = x.x, v[i][1] = x.y;
            } else {
                v[i][0] = *(const unsigned *)here;
            }
            scale[i] = from[SCALES + (2 * column + i % 2 + i / 2 * 8) * (D / 16) + line * D / 128];
        }
    }
    /* Only the first `count` keys are there: what lies behind them may be NaN, and 0 times that
     * too. */
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
        for (int half = 0; half < 2; half++)
            widen_e4m3(k[half][s], a[half], a[2 + half]);
    }
    /* All operands V, two tiles at a time: tile t has numbers 2 t and 2 t + 1 of each lane's row,
     * byte t % 4 of a word. Bytes of two keys are put side by side; then a code of 4 bits is one of
     * e4m3, 64 times too small, when its bits are moved: the sign to the top, the others to bits 2
     * to 4. */
    template <class F> __device__ __forceinline__ void values(F use) const
    {
        unsigned scales[2] = {halves_e4m3(scale[0] | scale[1] << 8),
                              halves_e4m3(scale[2] | scale[3] << 8)};
#pragma unroll
        for (int t = 0; t < D / 16; t += 2) {
            unsigned a[2][4];
#pragma unroll
            for (int later = 0; later < 2;
                 later++) { // keys 2 c and 2 c + 1, then those 8 further on
                unsigned codes = __byte_perm(v[2 * later][t / 4], v[2 * later + 1][t / 4],
                                             t % 4 ? 0x7362 : 0x5140);
                unsigned signs = keep(codes & 0x88888888);
                widen_e4m3(put_sizes(codes << 2, signs << 4), a[0][2 * later], a[1][2 * later]);
                widen_e4m3(put_sizes(codes >> 2, signs), a[0][2 * later + 1], a[1][2 * later + 1]);
            }
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++)
                    a[i][j] = multiply_halves(a[i][j], scales[j / 2]);
                use(t + i, a[i]);
            }
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
    static __device__ __forceinline__ float k_scale(const cache &c, int head)
    {
        return 1;
    }
    static __device__ __forceinline__ float v_scale(const cache &c, int head)
    {
        return 1;
    }
};

static __device__ __forceinline__ float max_lines(float x)
{
    for (int distance = 4; distance < 32; distance *= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, distance));
    return x;
}
/* What was found so far shrinks to a larger score. `largest`: of this lane's keys. */
template <int D>
static __device__ __forceinline__ void raise_most(state<D> &s, const float (&largest)[2])
{
    float shrink[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        float next = fmaxf(s.most[j], max_lines(largest[j]));
        shrink[j] = s.most[j] == next ? 1 : power_of_two(s.most[j] - next);
        s.most[j] = next;
        s.sum[j] *= shrink[j];
    }
#pragma unroll
    for (int t = 0; t < D / 16; t++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            s.o[t][i] *= shrink[i % 2];
}

/* 16 keys, of which `count` are there, one at least. scale: of scores, times log2(e). The largest
 * score is looked for only when one is 2^SLACK times as much as the largest known: until then its
 * exponential, and so all others', has room enough in f16. */
#define SLACK 8
template <int D, class Cache>
static __device__ __forceinline__ void
add_keys(state<D> &s, Cache &c, const unsigned (&q)[D / 16][2], float scale, int count)
{
    int line = threadIdx.x % 32 / 4;
    float score[4] = {}, largest[2], p[4];
#pragma unroll
    for (int step = 0; step < D / 16; step++) {
        unsigned a[4];
        c.keys(step, a);
        multiply_add(score, a, q[step][0], q[step][1]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        score[i] *= scale;
    if (count < 16) {
        c.limit(count);
#pragma unroll
        for (int i = 0; i < 4; i++)
            score[i] = line + i / 2 * 8 < count ? score[i] : -INFINITY;
    }
#pragma unroll
    for (int j = 0; j < 2; j++)
        largest[j] = fmaxf(score[j], score[2 + j]);
    if (__any_sync(0xffffffff, largest[0] > s.most[0] + SLACK || largest[1] > s.most[1] + SLACK))
        raise_most(s, largest);
#pragma unroll
    for (int i = 0; i < 4; i++)
        p[i] = power_of_two(score[i] - s.most[i % 2]);
    s.sum[0] += p[0] + p[2];
    s.sum[1] += p[1] + p[3];
    unsigned b0 = transpose(narrow_pair(p[0], p[1], f16()));
    unsigned b1 = transpose(narrow_pair(p[2], p[3], f16()));
    c.values([&](int t, const unsigned(&a)[4]) { multiply_add(s.o[t], a, b0, b1); });
}

/* Queries as operands of K's order. */
template <int D, class Cache, class T>
static __device__ __forceinline__ void load_queries(const T *q, int queries,
                                                    unsigned (&to)[D / 16][2])
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
static __device__ __forceinline__ void finish_decode(state<D> &s, T *o, const part_of_keys &p,
                                                     float scale, found<D> *of_warp, found<D> *all)
{
    merge_warps<D, WARPS>(s, of_warp, all, p.queries);
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
        add_keys(s, now, operands, scale, p.length - 16 * group);
    }
    finish_decode<D, WARPS>(s, o + p.first * D, p, Cache::v_scale(c, p.head), of_warp, all);
}

/* Copies a sequence's keys, 16 at a time. The next page is looked up while this one is copied. */
template <class Cache> struct copier {
    const int *table; // of the sequence
    long long row;    // of the cache
    int page, next, left, head;

    __device__ __forceinline__ void enter(const cache &c, int place, int group)
    {
        row = ((long long)place * c.kv_heads + head) * c.page + group * 16;
        left = c.page / 16 - group;
        next = table[min(page + 1, c.pages_each - 1)];
    }
    __device__ __forceinline__ void begin(const cache &c, const part_of_keys &p, int group)
    {
        int groups = c.page / 16;
        table = c.table + (long long)p.sequence * c.pages_each;
        head = p.head;
        page = group / groups;
        enter(c, table[page], group % groups);
    }
    __device__ __forceinline__ void copy(const cache &c, unsigned to)
    {
        Cache::copy(to, c, row);
        row += 16;
        if (--left == 0) {
            page++;
            enter(c, next, 0);
        }
    }
};

/* The same with STAGES - 1 groups of each warp on their way into shared memory. A warp's groups
 * follow each other, and it waits for nobody else. */
#define STAGES 4
template <int D, int WARPS, class Cache, class T>
static __device__ __forceinline__ void decode_copied(const T *q, T *o, cache c, float softmax_scale,
                                                     unsigned parts, unsigned char *memory,
                                                     found<D> *all)
{
    part_of_keys p = part_of_block(c, parts);
    int warp = threadIdx.x / 32, groups = max(p.end - p.group, 0);
    int group = p.group + groups * warp / WARPS, end = p.group + groups * (warp + 1) / WARPS;
    int copied = group;
    const unsigned char *mine = memory + warp * STAGES * Cache::BYTES;
    unsigned to = shared_address(mine);
    unsigned operands[D / 16][2];
    state<D> s = {};
    s.most[0] = s.most[1] = -INFINITY;
    copier<Cache> at;
    if (group < end)
        at.begin(c, p, group);
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; stage++) {
        if (copied++ < end)
            at.copy(c, to + stage * Cache::BYTES);
        copy_async_commit();
    }
    load_queries<D, Cache>(q + p.first * D, p.queries, operands);
    float scale = softmax_scale * LOG2_E * Cache::k_scale(c, p.head);
#pragma unroll 1
    while (group < end) {
#pragma unroll
        for (int stage = 0; stage < STAGES; stage++) {
            if (group >= end)
                break;
            Cache now;
            copy_async_wait(STAGES - 2);
            __syncwarp(); // these keys are there, and nobody reads those before them any more
            if (copied++ < end)
                at.copy(c, to + (stage + STAGES - 1) % STAGES * Cache::BYTES);
            copy_async_commit();
            now.load(mine + stage * Cache::BYTES);
            add_keys(s, now, operands, scale, p.length - 16 * group++);
        }
    }
    __syncthreads(); // the same memory again
    finish_decode<D, WARPS>(s, o + p.first * D, p, Cache::v_scale(c, p.head), (found<D> *)memory,
                            all);
}

#define DECODE_KERNEL(name, D, WARPS, RESIDENT, Cache, T)                                          \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)                             \
        name(const T *q, T *o, CACHE_PARAMETERS, float softmax_scale, unsigned parts)              \
    {                                                                                              \
        __shared__ found<D> of_warp[WARPS], all;                                                   \
        decode<D, WARPS, Cache<D>>(q, o, CACHE_ARGUMENTS, softmax_scale, parts, of_warp, &all);    \
    }

/* In WARPS * STAGES * Cache<D>::BYTES of shared memory. */
#define DECODE_COPIED_KERNEL(name, D, WARPS, RESIDENT, Cache, T)                                   \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)                             \
        name(const T *q, T *o, CACHE_PARAMETERS, float softmax_scale, unsigned parts)              \
    {                                                                                              \
        extern __shared__ __align__(128) unsigned char memory[];                                   \
        __shared__ found<D> all;                                                                   \
        decode_copied<D, WARPS, Cache<D>>(q, o, CACHE_ARGUMENTS, softmax_scale, parts, memory,     \
                                          &all);                                                   \
    }

#endif
