/*
 * frontier.h: what the steps of a breadth-first search share. A vertex that has not been seen has
 * distance -1; the thread that swaps that for the level first has found the vertex, and puts it on
 * the next frontier.
 */
#ifndef LOCKSTEP_GRAPH_FRONTIER_H
#define LOCKSTEP_GRAPH_FRONTIER_H

#include "device.h"

#define UNSEEN (-1)

// The next distances start as the old ones, the next frontier empty.
extern "C" __global__ void __launch_bounds__(256)
    start(const int *distance, int *next_distance, long long vertices, unsigned *next_count)
{
    long long me = (long long)blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (long long v = me; v < vertices; v += gridDim.x * blockDim.x)
        next_distance[v] = distance[v];
    if (me == 0)
        *next_count = 0;
}

// Whether this thread is the first to find the vertex. A plain look comes before the atomic: most
// neighbours have been seen already. Other blocks write distances, so it bypasses the L1.
static __device__ __forceinline__ bool looks_unseen(const int *distance, int vertex)
{
    return (int)load_relaxed((const unsigned *)distance + vertex) == UNSEEN;
}
static __device__ __forceinline__ bool claim(int *distance, int vertex, int level)
{
    return atomicCAS(distance + vertex, UNSEEN, level) == UNSEEN;
}

// The lane's own number. The assembler knows that it is 0 in one lane only; under threadIdx.x % 32
// == 0 it prepares for several and adds their atomics up first.
static __device__ __forceinline__ unsigned own_lane()
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

// The lanes that found a vertex append it to the list, with one atomic; all lanes take part.
static __device__ __forceinline__ void append(bool found, int vertex, int *list, unsigned *count)
{
    unsigned lanes = __ballot_sync(0xffffffff, found), place = 0;
    if (lanes == 0)
        return;
    if (own_lane() == 0)
        place = atomicAdd(count, __popc(lanes));
    place = __shfl_sync(0xffffffff, place, 0) + __popc(lanes & lanes_below());
    if (found)
        list[place] = vertex;
}

#endif
