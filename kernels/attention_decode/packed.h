/*
 * packed.h: the kernels of packed.cu and chained.cu: a warp's tiles, the products on tensor cores,
 * and how the results of warps and blocks are put together.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_DECODE_PACKED_H
#define LOCKSTEP_KERNELS_ATTENTION_DECODE_PACKED_H

#include "mma_sync.h"
#include "share.h"

template <class type, int DIM, int TILES> struct packed {
    static const int ROWS = 16 * TILES;                    /* of a packet */
    static const int ROW = (DIM + 63) / 64 * 128;          /* bytes of a key in shared memory */
    static const int STAGES = DIM == 64 ? 6 : 3;
    static const int PITCH = DIM + 8; /* of the sums, so that rows lie in other banks */

    struct memory {
        unsigned char tiles[WARPS][STAGES][2][KEYS * ROW]; /* K and V */
        float sums[16 * PITCH];
        float2 found[WARPS][16]; /* largest and sum of each row */
        int of_warp[WARPS];
    };

    static __device__ __forceinline__ unsigned place(unsigned row, unsigned chunk)
    {
        return row * ROW + ((chunk ^ row % 8) << 4);
    }

    /* The warp's next tile: found one turn before it is asked for, since its page must be read. */
    struct cursor {
        item it;
        int tile;
        long long at;
    };
    static __device__ __forceinline__ void locate(const decode_arguments &g, int packets, int end,
                                                  cursor &c)
    {
        while (c.tile < end) {
            if (c.tile >= c.it.first + c.it.weight)
                step(g, g.heads * packets, c.it);
            else if (c.tile >= c.it.first + tiles_of(c.it.length))
                c.tile += WARPS; /* nothing to load */
            else
                break;
        }
        if (c.tile >= end)
            return;
        c.at = cache_at(g, c.it.sequence, c.it.inside / packets, (c.tile - c.it.first) * KEYS);
    }
    static __device__ __forceinline__ void ask(const decode_arguments &g, int end, unsigned to,
                                               const cursor &c)
    {
        const int chunks = DIM / 8;
        if (c.tile < end) {
            int inside = c.it.length - (c.tile - c.it.first) * KEYS;
            const unsigned short *k = (const unsigned short *)g.k + c.at;
            const unsigned short *v = (const unsigned short *)g.v + c.at;
#pragma unroll
            for (int i = 0; i < KEYS * chunks / 32; i++) {
                int number = i * 32 + threadIdx.x % 32;
                int row = number / chunks, chunk = number - row * chunks;
                long long from = row < inside ? row * g.row + chunk * 8 : 0;
                unsigned bytes = row < inside ? 16 : 0; /* rows beyond the length are zero */
                copy_async_16_to(to + place(row, chunk), k + from, bytes);
                copy_async_16_to(to + KEYS * ROW + place(row, chunk), v + from, bytes);
            }
        }
        copy_async_commit();
    }

    /* The rows of a packet as first factors; rows that it does not have are zero. */
    static __device__ __forceinline__ void load_queries(const decode_arguments &g, const item &it,
                                                        int packets,
                                                        unsigned (&q)[TILES][DIM / 16][4])
    {
        int kv_head = it.inside / packets, packet = it.inside - kv_head * packets;
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                int row = packet * ROWS + t * 16 + h * 8 + threadIdx.x % 32 / 4;
                int query = row / g.group, head = kv_head * g.group + row - query * g.group;
                long long at = it.sequence * g.q_batch + head * g.q_head + query * g.q_row;
                const unsigned short *from = (const unsigned short *)g.q + at + threadIdx.x % 4 * 2;
#pragma unroll
                for (int i = 0; i < DIM / 16; i++) {
                    q[t][i][h] = query < g.queries ? *(const unsigned *)(from + 16 * i) : 0;
                    q[t][i][h + 2] = query < g.queries ? *(const unsigned *)(from + 16 * i + 8) : 0;
                }
            }
    }

    /* What a thread knows of its two rows in each 16 of a packet. */
    struct rows {
        float largest[TILES][2], sum[TILES][2]; /* not scaled; of this thread's exponentials */
        float out[TILES][DIM / 2];
    };

    /* Scores of 16 rows become weights, and the output so far shrinks. `last` is the last key that
     * each row sees, counted from the tile's first. */
    static __device__ __forceinline__ void soften(float (&scores)[8], rows &r, int t, float scale,
                                                  const int (&last)[2], unsigned (&weights)[4])
    {
        int column = threadIdx.x % 4 * 2;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float most = r.largest[t][h], shrink;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float &score = scores[i / 2 * 4 + h * 2 + i % 2];
                score = column + i / 2 * 8 + i % 2 > last[h] ? lowest() : score;
                most = fmaxf(most, score);
            }
            most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
            most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
            float base = most == lowest() ? 0 : most * scale;
            shrink = exp2_fast(fmaf(r.largest[t][h], scale, -base));
            r.largest[t][h] = most;
            r.sum[t][h] *= shrink;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float &score = scores[i / 2 * 4 + h * 2 + i % 2];
                score = exp2_fast(fmaf(score, scale, -base));
                r.sum[t][h] += score;
            }
            weights[h] = type::pack(scores[2 * h], scores[2 * h + 1]);
            weights[h + 2] = type::pack(scores[4 + 2 * h], scores[5 + 2 * h]);
#pragma unroll
            for (int i = 2 * h; i < DIM / 2; i += 4) {
                r.out[t][i] *= shrink;
                r.out[t][i + 1] *= shrink;
            }
        }
    }

    /* One tile: K at `k`, V behind it. */
    static __device__ __forceinline__ void attend(const unsigned (&q)[TILES][DIM / 16][4],
                                                  unsigned k, float scale,
                                                  const int (&last)[TILES][2], rows &r)
    {
        unsigned lane = threadIdx.x % 32, v = k + KEYS * ROW, weights[TILES][4], of[4];
        float scores[TILES][8];
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int i = 0; i < 8; i++)
                scores[t][i] = 0;
#pragma unroll
        for (unsigned i = 0; i < DIM / 16; i++) {
            load_matrices(of, k + place(lane / 16 * 8 + lane % 8, 2 * i + lane / 8 % 2));
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                multiply(type(), scores[t], q[t][i], of[0], of[1]);
                multiply(type(), scores[t] + 4, q[t][i], of[2], of[3]);
            }
        }
#pragma unroll
        for (int t = 0; t < TILES; t++)
            soften(scores[t], r, t, scale, last[t], weights[t]);
#pragma unroll
        for (unsigned i = 0; i < DIM / 16; i++) {
            load_transposed(of, v + place(lane % 16, 2 * i + lane / 16));
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                multiply(type(), r.out[t] + 8 * i, weights[t], of[0], of[1]);
                multiply(type(), r.out[t] + 8 * i + 4, weights[t], of[2], of[3]);
            }
        }
    }

    /* 16 rows of the four warps added up, in the order of the warps: the output if the block has
     * all of the item, else a part of it. */
    static __device__ __forceinline__ void finish(const decode_arguments &g, const item &it,
                                                  int packets, bool whole, int part, int t, rows &r,
                                                  memory &m)
    {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        float shrink[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float sum = r.sum[t][h] + __shfl_xor_sync(0xffffffff, r.sum[t][h], 1);
            sum += __shfl_xor_sync(0xffffffff, sum, 2);
            if (lane % 4 == 0)
                m.found[warp][lane / 4 + 8 * h] = make_float2(r.largest[t][h] * g.scale, sum);
        }
        __syncthreads();
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float most = lowest();
            for (int w = 0; w < WARPS; w++)
                most = fmaxf(most, m.found[w][lane / 4 + 8 * h].x);
            shrink[h] = shrink_to(r.largest[t][h] * g.scale, most);
        }
        for (int w = 0; w < WARPS; w++) {
            if (w == warp)
#pragma unroll
                for (int i = 0; i < DIM / 2; i += 2) {
                    int h = i / 2 % 2;
                    float2 *to = (float2 *)&m.sums[(lane / 4 + 8 * h) * PITCH + i / 4 * 8 +
                                                   lane % 4 * 2];
                    float2 sum = w > 0 ? *to : make_float2(0, 0);
                    sum.x = fmaf(r.out[t][i], shrink[h], sum.x);
                    sum.y = fmaf(r.out[t][i + 1], shrink[h], sum.y);
                    *to = sum;
                }
            __syncthreads();
        }
        store(g, it, packets, whole, part, t, m);
        __syncthreads();
    }

    static __device__ __forceinline__ void store(const decode_arguments &g, const item &it,
                                                 int packets, bool whole, int part, int t,
                                                 const memory &m)
    {
        int kv_head = it.inside / packets, packet = it.inside - kv_head * packets;
        for (int i = threadIdx.x; i < 16 * (DIM / 4); i += THREADS) {
            int line = i / (DIM / 4), column = i % (DIM / 4) * 4, row = packet * ROWS + t * 16 + line;
            int query = row / g.group, head = kv_head * g.group + row - query * g.group;
            if (query >= g.queries)
                continue;
            float most = lowest(), sum = 0;
            for (int w = 0; w < WARPS; w++)
                most = fmaxf(most, m.found[w][line].x);
            for (int w = 0; w < WARPS; w++)
                sum = fmaf(m.found[w][line].y, shrink_to(m.found[w][line].x, most), sum);
            float4 out = *(const float4 *)&m.sums[line * PITCH + column];
            if (whole) {
                decode_row to = row_at(g, it.sequence, head, query);
                float by = sum == 0 ? 0 : 1 / sum;
                *(uint2 *)((unsigned short *)g.o + to.q + column) =
                    make_uint2(type::pack(out.x * by, out.y * by),
                               type::pack(out.z * by, out.w * by));
                if (column == 0 && g.lse)
                    ((float *)g.lse)[to.lse] = lse_of(most, sum);
            } else {
                *(float4 *)(outs_at(g, ROWS, part) + (t * 16 + line) * DIM + column) = out;
                if (column == 0)
                    sums_at(g, ROWS, part)[t * 16 + line] = make_float2(most, sum);
            }
        }
    }

    static __device__ __forceinline__ void run(const decode_arguments &g)
    {
        extern __shared__ __align__(128) unsigned char shared[];
        memory &m = *(memory *)shared;
        int packets = (g.group * g.queries + ROWS - 1) / ROWS, items = g.heads * packets, none;
        int total = count_tiles(g, items, 0, none, m.of_warp), warp = threadIdx.x / 32;
        int begin = share_begin(g, total, blockIdx.x), end = share_begin(g, total, blockIdx.x + 1);
        if (begin >= end)
            return;
        item it = find_item(g, items, begin, m.of_warp);
        cursor next = {it, begin + warp, 0};
        unsigned tiles = shared_address(m.tiles[warp]), stage = 0;
        unsigned q[TILES][DIM / 16][4];
        rows r;
        locate(g, packets, end, next);
        for (int i = 0; i < STAGES - 1; i++) {
            ask(g, end, tiles + i * 2 * KEYS * ROW, next);
            next.tile += WARPS;
            locate(g, packets, end, next);
        }
        for (int tile = begin + warp; it.first < end; step(g, items, it)) {
            load_queries(g, it, packets, q);
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                r.largest[t][0] = r.largest[t][1] = lowest();
                r.sum[t][0] = r.sum[t][1] = 0;
#pragma unroll
                for (int i = 0; i < DIM / 2; i++)
                    r.out[t][i] = 0;
            }
            int item_end = it.first + it.weight;
            int until = min(it.first + tiles_of(it.length), end);
            for (; tile < until; tile += WARPS) {
                copy_async_wait(STAGES - 2);
                __syncwarp(); /* the tile is here, and the one before it has been used */
                ask(g, end, tiles + (stage + STAGES - 1) % STAGES * 2 * KEYS * ROW, next);
                next.tile += WARPS;
                locate(g, packets, end, next);
                int last[TILES][2], key = (tile - it.first) * KEYS;
#pragma unroll
                for (int t = 0; t < TILES; t++)
#pragma unroll
                    for (int h = 0; h < 2; h++) {
                        int row = it.inside % packets * ROWS + t * 16 + h * 8 +
                                  threadIdx.x % 32 / 4;
                        last[t][h] = it.length - g.queries + row / g.group - key;
                    }
                attend(q, tiles + stage * 2 * KEYS * ROW, g.scale, last, r);
                stage = stage + 1 == STAGES ? 0 : stage + 1;
            }
            for (; tile < min(item_end, end); tile += WARPS)
                continue;
            bool whole = it.first >= begin && item_end <= end;
#pragma unroll
            for (int t = 0; t < TILES; t++)
                finish(g, it, packets, whole, 2 * blockIdx.x + (it.first > begin), t, r, m);
        }
    }

    /* A block for each row: what several blocks had a share of, and rows without keys. A warp takes
     * every fourth part, a lane four columns. */
    static __device__ __forceinline__ void merge(const decode_arguments &g)
    {
        __shared__ int of_warp[WARPS];
        __shared__ float2 sums[WARPS];
        __shared__ float4 outs[WARPS][DIM / 4];
        int packets = (g.group * g.queries + ROWS - 1) / ROWS, items = g.heads * packets, before;
        int row = blockIdx.x, kv_head = blockIdx.y, sequence = blockIdx.z;
        int packet = row / ROWS, line = row - packet * ROWS, from = 0, to = -1, place = 0;
        int total = count_tiles(g, items, sequence, before, of_warp);
        int tiles = weight_of(length_of(g, sequence));
        int first = before + (kv_head * packets + packet) * tiles;
        if (tiles > 0) {
            from = (int)((long long)first * g.parts / total);
            while (share_begin(g, total, from + 1) <= first)
                from++;
            for (to = from; share_begin(g, total, to + 1) < first + tiles;)
                to++;
            if (from == to)
                return; /* one block had it all */
            place = first > share_begin(g, total, from);
        }
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        float most = lowest(), sum = 0;
        float4 out[DIM > 128 ? 2 : 1] = {};
        for (int b = from + warp; b <= to; b += WARPS) {
            if (total < g.parts && share_begin(g, total, b) == share_begin(g, total, b + 1))
                continue; /* fewer tiles than blocks */
            int part = 2 * b + (b == from ? place : 0);
            float2 its = sums_at(g, ROWS, part)[line];
            float largest = fmaxf(most, its.x);
            float old = shrink_to(most, largest), now = shrink_to(its.x, largest);
            const float4 *of = (const float4 *)(outs_at(g, ROWS, part) + line * DIM);
            most = largest;
            sum = sum * old + its.y * now;
#pragma unroll
            for (int i = 0; i < (DIM > 128 ? 2 : 1); i++)
                if (lane + 32 * i < DIM / 4)
                    out[i] = add(out[i], old, of[lane + 32 * i], now);
        }
#pragma unroll
        for (int i = 0; i < (DIM > 128 ? 2 : 1); i++)
            if (lane + 32 * i < DIM / 4)
                outs[warp][lane + 32 * i] = out[i];
        if (lane == 0)
            sums[warp] = make_float2(most, sum);
        __syncthreads();
        int query = row / g.group, head = kv_head * g.group + row - query * g.group;
        decode_row at = row_at(g, sequence, head, query);
        most = lowest();
        sum = 0;
        for (int w = 0; w < WARPS; w++)
            most = fmaxf(most, sums[w].x);
        for (int w = 0; w < WARPS; w++)
            sum = fmaf(sums[w].y, shrink_to(sums[w].x, most), sum);
        for (int i = threadIdx.x; i < DIM / 4; i += THREADS) {
            float4 all = make_float4(0, 0, 0, 0);
            for (int w = 0; w < WARPS; w++)
                all = add(all, 1, outs[w][i], shrink_to(sums[w].x, most));
            float by = sum == 0 ? 0 : 1 / sum;
            *(uint2 *)((unsigned short *)g.o + at.q + 4 * i) = make_uint2(
                type::pack(all.x * by, all.y * by), type::pack(all.z * by, all.w * by));
        }
        if (threadIdx.x == 0 && g.lse)
            ((float *)g.lse)[at.lse] = lse_of(most, sum);
    }
    static __device__ __forceinline__ float4 add(float4 a, float by, float4 b, float with)
    {
        return make_float4(a.x * by + b.x * with, a.y * by + b.y * with, a.z * by + b.z * with,
                           a.w * by + b.w * with);
    }
};

/* Packets of 16 rows, or of 32. A file says before what let_next_begin and wait_for_previous do. */
#define DECODE(type, dim, rows, resident)                                                          \
    extern "C" __global__ void __launch_bounds__(THREADS, resident)                                \
        decode_##type##_##dim##_##rows(const __grid_constant__ decode_arguments g)                 \
    {                                                                                              \
        let_next_begin();                                                                          \
        packed<type, dim, rows / 16>::run(g);                                                      \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        merge_##type##_##dim##_##rows(const __grid_constant__ decode_arguments g)                  \
    {                                                                                              \
        wait_for_previous();                                                                       \
        packed<type, dim, rows / 16>::merge(g);                                                    \
    }
#define DECODES(type)                                                                              \
    DECODE(type, 64, 16, 2)                                                                        \
    DECODE(type, 64, 32, 2)                                                                        \
    DECODE(type, 96, 16, 2)                                                                        \
    DECODE(type, 96, 32, 2)                                                                        \
    DECODE(type, 128, 16, 2)                                                                       \
    DECODE(type, 128, 32, 2)                                                                       \
    DECODE(type, 256, 16, 1)

#endif
