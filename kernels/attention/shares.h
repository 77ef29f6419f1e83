/*
 * shares.h: the last round of tiles, for fp8.cu. If there are not enough of them for every block,
 * some would work as long as ever while the others wait. So the tiles that are left lie in a row,
 * each with its tiles of keys, and all blocks take shares of the same size: the end of one tile
 * and the beginning of the next, or some keys of one. What a block found of a tile's keys goes to
 * the workspace, and another kernel adds up, always in the same order. Only where all queries see
 * all keys: then all tiles take the same time.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_SHARES_H
#define LOCKSTEP_KERNELS_ATTENTION_SHARES_H

#include "order.h"

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

#endif
