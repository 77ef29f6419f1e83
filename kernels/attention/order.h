/*
 * order.h: the order in which blocks take tiles of packed sequences. Sequences differ in length,
 * and so do their tiles in what there is to do; a block that takes a long one last keeps all others
 * waiting. One block sorts the tiles, those that see most keys first, and leaves a list of them in
 * the workspace. Persistent blocks go through it, every other round backwards.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_ORDER_H
#define LOCKSTEP_KERNELS_ATTENTION_ORDER_H

#include "attention.h"
#ifndef QUERIES
#define QUERIES 128 /* of a tile */
#endif
#define ORDER_THREADS 1024 /* and as many bins */

/* In the workspace: listed[0].row is how many there are, and they follow. All heads take them. */
struct alignas(16) listed {
    int row, q_first, queries, k_first; /* `row` is the tile's first, within its sequence */
    int keys, number, unused[2];        /* `number` is the sequence's */
};

static __device__ __forceinline__ int bin_of(const attention_arguments &g, const sequence &s,
                                             int row)
{
    seen keys = seen_by_rows(g, s, row, QUERIES);
    int step = g.keys / ORDER_THREADS + 1, count = max(keys.last - keys.first + 1, 0);
    return ORDER_THREADS - 1 - min(count / step, ORDER_THREADS - 1);
}

/* A warp for each sequence, a lane for each tile: each adds 1 to its bin, which says how many came
 * before it. With a list, it is written there. */
static __device__ __forceinline__ void bin_tiles(const attention_arguments &g, int *bins,
                                                 listed *list)
{
    for (int i = threadIdx.x / 32; i < g.batch; i += ORDER_THREADS / 32) {
        sequence s = sequence_of(g, i * g.heads * g.group);
        for (int row = threadIdx.x % 32 * QUERIES; row < s.queries; row += 32 * QUERIES) {
            int at = atomicAdd(bins + bin_of(g, s, row), 1);
            if (list && at < g.room)
                list[at] = listed{row, s.q_first, s.queries, s.k_first, s.keys, i, {0, 0}};
        }
    }
}

/* The sum of x over this thread and those before it. */
static __device__ __forceinline__ int sum_up_to(int x)
{
    __shared__ int sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 1; i < 32; i *= 2) {
        int before = __shfl_up_sync(0xffffffff, x, i);
        x += lane >= i ? before : 0;
    }
    if (lane == 31)
        sums[warp] = x;
    __syncthreads();
    for (int i = 0; i < warp; i++)
        x += sums[i];
    return x;
}

static __device__ __forceinline__ void make_list(const attention_arguments &g)
{
    __shared__ int bins[ORDER_THREADS];
    listed *list = (listed *)g.workspace;
    bins[threadIdx.x] = 0;
    __syncthreads();
    bin_tiles(g, bins, 0);
    __syncthreads();
    int count = bins[threadIdx.x], end = sum_up_to(count);
    bins[threadIdx.x] = end - count;
    if (threadIdx.x == ORDER_THREADS - 1)
        list[0].row = min(end, g.room);
    __syncthreads();
    bin_tiles(g, bins, list + 1);
}

/* A tile's queries of a head, and the tiles of keys that they see. */
struct place {
    sequence s;
    int row, first, last; /* tiles from the one before `last` down to `first` */
};

/* Where blocks find their tiles; KEYS to a tile of keys. */
template <int KEYS> struct places {
    /* Queries of a head from row `row` on. */
    static __device__ __forceinline__ place place_at(const attention_arguments &g,
                                                     const sequence &s, int row)
    {
        place p = {s, row, 0, 0};
        seen keys = seen_by_rows(g, s, row, QUERIES);
        p.first = keys.first / KEYS;
        p.last = keys.last >= keys.first ? keys.last / KEYS + 1 : p.first;
        return p;
    }

    /* The block's tile of a round; false if there is none. */
    static __device__ __forceinline__ bool place_of(const attention_arguments &g, int round,
                                                    place &p)
    {
        int down = (g.queries + QUERIES - 1) / QUERIES, heads = g.batch * g.heads * g.group;
        bool is_sorted = g.right < g.keys || g.q_begin;
        int inside = is_sorted && round % 2 ? (int)(gridDim.x - 1 - blockIdx.x) : (int)blockIdx.x;
        int number = round * (int)gridDim.x + inside;
        if (g.q_begin)
            return listed_place(g, number, p);
        if (number >= down * heads)
            return false;
        if (!is_sorted) {
            numbered_place(g, number, p);
            return true;
        }
        int tile = number / heads;
        p = place_at(g, sequence_of(g, number - tile * heads), (down - 1 - tile) * QUERIES);
        return true;
    }
    /* Of tiles that all take the same time: those of a head follow each other. */
    static __device__ __forceinline__ void numbered_place(const attention_arguments &g, int number,
                                                          place &p)
    {
        int down = (g.queries + QUERIES - 1) / QUERIES;
        p = place_at(g, sequence_of(g, number / down), number % down * QUERIES);
    }
    static __device__ __forceinline__ bool listed_place(const attention_arguments &g, int number,
                                                        place &p)
    {
        const listed *list = (const listed *)g.workspace;
        int heads = g.heads * g.group, tile = number / heads, head = number - tile * heads;
        if (tile >= list[0].row)
            return false;
        listed x = list[1 + tile];
        sequence s = {x.q_first,      x.k_first, x.queries, x.keys, head,
                      head / g.group, 0,         x.number,  x.keys};
        p = place_at(g, s, x.row);
        return true;
    }
};

#endif
