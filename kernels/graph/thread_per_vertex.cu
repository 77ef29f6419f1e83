/*
 * thread_per_vertex.cu: a step of a breadth-first search: a thread for each vertex of the frontier
 * walks along its neighbours. Lanes read from 32 different lists, all wait for the longest one, and
 * each found vertex takes its place in the next frontier by an atomic of its own.
 */
// arch: sm_75
#include "device.h"
#include "frontier.h"
#define BLOCK 256 // tune: 64 128 256 512

KERNEL __launch_bounds__(BLOCK)
    expand(const i32 *offsets, const i32 *neighbours, const i32 *frontier, i64 count, i32 level,
           i32 *distance, i32 *next, u32 *next_count)
{
    i64 i = global_thread();
    if (i >= count)
        return;
    i32 vertex = frontier[i], end = offsets[vertex + 1];
    for (i32 e = offsets[vertex]; e < end; e++) {
        i32 neighbour = neighbours[e];
        if (looks_unseen(distance, neighbour) && claim(distance, neighbour, level))
            next[atomic_add_u32(next_count, 1)] = neighbour;
    }
}
