/*
 * shares.h: the last round of tiles, for overlapped.cu and fp8.cu. If there are not enough of them
 * for every block, some would work as long as ever while the others wait. So the tiles that are
 * left lie in a row, each with its tiles of keys, and all blocks take shares of the same size: the
 * end of one tile and the beginning of the next, or some keys of one. What a block found of a
 * tile's keys goes to the workspace, and another kernel adds up, always in the same order. Only
 * where all queries see all keys: then all tiles take the same time.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_SHARES_H
#define LOCKSTEP_KERNELS_ATTENTION_SHARES_H

#include "order.h"
#include "softmax_rows.h"

/* A tile, and where its part goes; `part` is -1 if the block has all of its keys. */
struct piece : place {
    int part;
};

template <int KEYS> struct shares : places<KEYS> {
    typedef places<KEYS> in;
    int tiles, left, first; /* all tiles, those of the last round, and its first one */
    int keys, blocks;       /* tiles of keys of a tile; blocks of the attention */

    __device__ __forceinline__ shares(const attention_arguments &g)
    {
        blocks = g.blocks;
        tiles = (g.queries + QUERIES - 1) / QUERIES * g.batch * g.heads * g.group;
        left = tiles % blocks;
        first = tiles - left;
        keys = (g.keys + KEYS - 1) / KEYS;
    }
    /* Where a block's share begins, in tiles of keys of all that is left. */
    __device__ __forceinline__ int begin(int block) const
    {
        return (int)((long long)left * keys * block / blocks);
    }
    /* The block that has this one. */
    __device__ __forceinline__ int block_of(int at) const
    {
        return (int)((((long long)at + 1) * blocks - 1) / ((long long)left * keys));
    }
    /* Parts go from block to block, and from tile to tile. */
    static __device__ __forceinline__ int part_of(int block, int tile)
    {
        return block + tile;
    }
    /* As place_of; if they are SHARED, with shares in the place of the last round. */
    template <bool SHARED>
    static __device__ __forceinline__ bool piece_of(const attention_arguments &g, int round,
                                                    piece &p)
    {
        p.part = -1;
        if (!SHARED)
            return in::place_of(g, round, p);
        shares s(g);
        int number = round * s.blocks + (int)blockIdx.x;
        if (number < s.first) {
            in::numbered_place(g, number, p);
            return true;
        }
        int from = s.begin(blockIdx.x), until = s.begin(blockIdx.x + 1);
        int tile = from / s.keys + round - s.first / s.blocks;
        int low = max(from - tile * s.keys, 0), high = min(until - tile * s.keys, s.keys);
        if (low >= high)
            return false;
        in::numbered_place(g, s.first + tile, p);
        p.first = low;
        p.last = high;
        p.part = part_of(blockIdx.x, tile);
        return true;
    }
};

/* Of each thread the sums of the output, and what it knows of its rows: side by side. */
static __device__ __forceinline__ rows nothing(void)
{
    return rows{{lowest(), lowest()}, {0, 0}, {0, 0}};
}
template <int GROUPS, int count>
static __device__ __forceinline__ void store_part(const float (&out)[count], const rows &r,
                                                  const attention_arguments &g, int part)
{
    const int threads = 128 * GROUPS;
    float *at = (float *)g.parts + (long long)part * (count + 4) * threads + threadIdx.x;
#pragma unroll
    for (int i = 0; i < count; i++)
        at[i * threads] = out[i];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        at[(count + h) * threads] = r.largest[h];
        at[(count + 2 + h) * threads] = r.sum[h];
    }
}

/* A warpgroup's rows of a tile, put together of their parts; block x has warpgroup x % GROUPS. */
template <int DIM, int KEYS, int GROUPS> struct merged {
    enum { APART = 128 * GROUPS, PART = (DIM / 2 + 4) * APART }; /* from a number to the next */
    float out[DIM / 2];
    rows r;
    place p;
    shares<KEYS> all;
    int tile, thread, row; /* the thread's first row */

    __device__ __forceinline__ merged(const attention_arguments &g) : all(g)
    {
        tile = blockIdx.x / GROUPS;
        thread = blockIdx.x % GROUPS * 128 + threadIdx.x;
        all.numbered_place(g, all.first + tile, p);
        row = p.row + thread / 32 * 16 + thread % 32 / 4;
        r = nothing();
#pragma unroll
        for (int i = 0; i < DIM / 2; i++)
            out[i] = 0;
    }
    /* What is there shrinks to the larger of both largest scores, and so does what comes. */
    __device__ __forceinline__ void add(const float *at, float scale)
    {
        float grow[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float largest = at[(DIM / 2 + h) * APART], most = fmaxf(r.largest[h], largest);
            float base = most == lowest() ? 0.0f : most * scale;
            r.shrink[h] = exp2_fast(fmaf(r.largest[h], scale, -base));
            grow[h] = exp2_fast(fmaf(largest, scale, -base));
            r.largest[h] = most;
            r.sum[h] = fmaf(r.sum[h], r.shrink[h], grow[h] * at[(DIM / 2 + 2 + h) * APART]);
        }
#pragma unroll
        for (int i = 0; i < DIM / 2; i++)
            out[i] = fmaf(out[i], r.shrink[i / 2 % 2], grow[i / 2 % 2] * at[i * APART]);
    }
    __device__ __forceinline__ void add_all(const attention_arguments &g, float scale)
    {
        int last = all.block_of((tile + 1) * all.keys - 1);
        for (int block = all.block_of(tile * all.keys); block <= last; block++)
            if (all.begin(block) < all.begin(block + 1)) /* few keys are not enough for all */
                add((const float *)g.parts + (long long)all.part_of(block, tile) * PART + thread,
                    scale);
    }
};

#endif
