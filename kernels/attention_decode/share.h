/*
 * share.h: all the work of a decode, cut into equal shares for the blocks of packed.h.
 *
 * A tile is 16 keys of one head of one sequence. An item is a head of a sequence with a packet of
 * its queries' rows; items follow each other, by sequence, head and packet, and so do their tiles.
 * Block i of n takes tiles from total * i / n on, wherever items begin and end. What a block finds
 * of an item that it has not alone goes to the workspace: into the block's first place if the item
 * began before the block's share or with it, else into its second.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_DECODE_SHARE_H
#define LOCKSTEP_KERNELS_ATTENTION_DECODE_SHARE_H

#include "decode.h"
#define KEYS 16 /* of a tile */
#define EXTRA 4 /* tiles that an item counts more than it has */
#define WARPS 4
#define THREADS (32 * WARPS)

struct item {
    int sequence, inside;     // inside: head * packets + packet
    int first, weight, length; // tiles before it, its own, and its keys
};

static __device__ __forceinline__ int tiles_of(int length)
{
    return (length + KEYS - 1) / KEYS;
}
/* An item costs as much as some tiles more: its queries must be loaded, its output stored. */
static __device__ __forceinline__ int weight_of(int length)
{
    return length > 0 ? tiles_of(length) + EXTRA : 0;
}
/* To the next item that has tiles; its sequence may be beyond the last. */
static __device__ __forceinline__ void step(const decode_arguments &g, int items, item &it)
{
    it.first += it.weight;
    if (++it.inside < items)
        return;
    it.inside = 0;
    do {
        it.length = ++it.sequence < g.batch ? length_of(g, it.sequence) : 0;
        it.weight = weight_of(it.length);
    } while (it.weight == 0 && it.sequence < g.batch);
}

/* A number of each thread, added up over the block; `before` gets the sum of the threads before. */
static __device__ __forceinline__ int sum_block(int mine, int &before, int *of_warp)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, up_to = mine, all = 0;
#pragma unroll
    for (int i = 1; i < 32; i *= 2) {
        int other = __shfl_up_sync(0xffffffff, up_to, i);
        up_to += lane >= i ? other : 0;
    }
    __syncthreads();
    if (lane == 31)
        of_warp[warp] = up_to;
    __syncthreads();
    before = up_to - mine;
    for (int i = 0; i < WARPS; i++) {
        before += i < warp ? of_warp[i] : 0;
        all += of_warp[i];
    }
    return all;
}

/* Tiles of all items, `items` for each sequence; in `before` those of sequences before `sequence`.
 */
static __device__ __forceinline__ int count_tiles(const decode_arguments &g, int items,
                                                  int sequence, int &before, int *of_warp)
{
    if (!g.lengths) {
        before = sequence * items * weight_of(g.keys);
        return g.batch * items * weight_of(g.keys);
    }
    int all = 0, first = 0, none;
    for (int i = threadIdx.x; i < g.batch; i += THREADS) {
        int tiles = items * weight_of(length_of(g, i));
        all += tiles;
        first += i < sequence ? tiles : 0;
    }
    before = sequence > 0 ? sum_block(first, none, of_warp) : 0;
    return sum_block(all, none, of_warp);
}

/* The item that has tile number `tile`, of which there is one. */
static __device__ __forceinline__ item find_item(const decode_arguments &g, int items, int tile,
                                                 int *of_warp)
{
    __shared__ int2 found; /* the sequence, and the tiles before it */
    item it = {0, 0, 0, 0, 0};
    if (g.lengths) {
        for (int i = 0, all = 0, before; i < g.batch; i += THREADS) {
            int mine = i + (int)threadIdx.x;
            int tiles = mine < g.batch ? items * weight_of(length_of(g, mine)) : 0;
            int chunk = sum_block(tiles, before, of_warp);
            if (tile >= all + before && tile < all + before + tiles)
                found = make_int2(mine, all + before);
            all += chunk;
            if (tile < all)
                break;
        }
        __syncthreads();
        it.sequence = found.x;
        it.first = found.y;
    } else {
        it.sequence = tile / (items * weight_of(g.keys));
        it.first = it.sequence * items * weight_of(g.keys);
    }
    it.length = length_of(g, it.sequence);
    it.weight = weight_of(it.length);
    it.inside = (tile - it.first) / it.weight;
    it.first += it.inside * it.weight;
    return it;
}

static __device__ __forceinline__ int share_begin(const decode_arguments &g, int total, int block)
{
    return (int)((long long)total * block / g.parts);
}

/* Two places of a block in the workspace: [block][2][row] of largest and sum, then
 * [block][2][row][dim]. */
static __device__ __forceinline__ float2 *sums_at(const decode_arguments &g, int rows, int place)
{
    return (float2 *)g.workspace + (long long)place * rows;
}
static __device__ __forceinline__ float *outs_at(const decode_arguments &g, int rows, int place)
{
    return (float *)g.workspace + (4LL * g.parts + (long long)place * g.dim) * rows;
}

#endif
