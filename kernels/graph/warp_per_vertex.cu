/*
 * warp_per_vertex.cu: a step of a breadth-first search: a warp for each vertex of the frontier.
 * Lanes read neighbouring edges, and what they find goes to the next frontier with one atomic for
 * all. A vertex with few neighbours leaves lanes idle; one with very many holds up its warp.
 */
// arch: sm_75
#include "frontier.h" // looks_unseen, claim, append; start, the kernel that runs before this one
#define BLOCK 256 // tune: 64 128 256 512

extern "C" __global__ void __launch_bounds__(BLOCK)
    expand(const int *offsets, const int *neighbours, const int *frontier, long long count,
           int level, int *distance, int *next, unsigned *next_count)
{
    long long i = ((long long)blockIdx.x * BLOCK + threadIdx.x) / 32;
    if (i >= count)
        return;
    int vertex = frontier[i], end = offsets[vertex + 1];
    for (long long e = offsets[vertex]; e < end; e += 32) { // all lanes stay, for append
        long long mine = e + threadIdx.x % 32;
        int neighbour = mine < end ? __ldg(neighbours + mine) : 0;
        bool found = mine < end && looks_unseen(distance, neighbour) &&
                     claim(distance, neighbour, level);
        append(found, neighbour, next, next_count);
    }
}
