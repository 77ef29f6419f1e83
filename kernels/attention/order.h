/*
 * order.h: the order in which blocks take tiles of packed sequences. Sequences differ in length,
 * and so do their tiles in what there is to do; a block that takes a long one last keeps all others
 * waiting. One block sorts the tiles, those that see most keys first, and leaves a list of them in
 * the workspace. Persistent blocks go through it, every other round backwards.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_ORDER_H
#define LOCKSTEP_KERNELS_ATTENTION_ORDER_H

#include "attention.h"
#define ORDER_THREADS 1024 /* and as many bins */

/* In the workspace: listed[0].row is how many there are, and they follow. All heads take them. */
struct alignas(16) listed {
    int row, q_first, queries, k_first; /* `row` is the tile's first, within its sequence */
    int keys, unused[3];
};

static __device__ __forceinline__ int bin_of(const attention_arguments &g, const sequence &s,
                                             int row, int rows)
{
    seen keys = seen_by_rows(g, s, row, rows);
    int step = g.keys / ORDER_THREADS + 1, count = max(keys.last - keys.first + 1, 0);
    return ORDER_THREADS - 1 - min(count / step, ORDER_THREADS - 1);
}

/* A warp for each sequence, a lane for each tile: each adds 1 to its bin, which says how many came
 * before it. With a list, it is written there. */
static __device__ __forceinline__ void bin_tiles(const attention_arguments &g, int rows, int *bins,
                                                 listed *list)
{
    for (int i = threadIdx.x / 32; i < g.batch; i += ORDER_THREADS / 32) {
        sequence s = sequence_of(g, i * g.heads * g.group);
        for (int row = threadIdx.x % 32 * rows; row < s.queries; row += 32 * rows) {
            int at = atomicAdd(bins + bin_of(g, s, row, rows), 1);
            if (list && at < g.room)
                list[at] = listed{row, s.q_first, s.queries, s.k_first, s.keys, {0, 0, 0}};
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

static __device__ __forceinline__ void make_list(const attention_arguments &g, int rows)
{
    __shared__ int bins[ORDER_THREADS];
    listed *list = (listed *)g.workspace;
    bins[threadIdx.x] = 0;
    __syncthreads();
    bin_tiles(g, rows, bins, 0);
    __syncthreads();
    int count = bins[threadIdx.x], end = sum_up_to(count);
    bins[threadIdx.x] = end - count;
    if (threadIdx.x == ORDER_THREADS - 1)
        list[0].row = min(end, g.room);
    __syncthreads();
    bin_tiles(g, rows, bins, list + 1);
}

#endif
