/*
 * thread_per_vertex.cu: a step of a breadth-first search: a thread for each vertex of the frontier
 * walks along its neighbours. Lanes read from 32 different lists, all wait for the longest one, and
 * each found vertex takes its place in the next frontier by an atomic of its own.
 */
// arch: sm_75
#include "frontier.h" // looks_unseen, claim; start, the kernel that runs before this one
#define BLOCK 256 // tune: 64 128 256 512

extern "C" __global__ void __launch_bounds__(BLOCK)
    expand(const int *offsets, const int *neighbours, const int *frontier, long long count,
           int level, int *distance, int *next, unsigned *next_count)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    int vertex = frontier[i], end = offsets[vertex + 1];
    for (int e = offsets[vertex]; e < end; e++) {
        int neighbour = neighbours[e];
        if (looks_unseen(distance, neighbour) && claim(distance, neighbour, level))
            next[atomicAdd(next_count, 1)] = neighbour;
    }
}
