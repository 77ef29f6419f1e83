/*
 * warp_per_vertex.cu: a step of a breadth-first search: a warp for each vertex of the frontier.
 * Lanes read neighbouring edges, and what they find goes to the next frontier with one atomic for
 * all. A vertex with few neighbours leaves lanes idle, one with very many holds its warp up.
 */
// arch: sm_75
#include "device.h"
#include "frontier.h"
#define BLOCK 256 // tune: 64 128 256 512

KERNEL __launch_bounds__(BLOCK)
    expand(const i32 *offsets, const i32 *neighbours, const i32 *frontier, i64 count, i32 level,
           i32 *distance, i32 *next, u32 *next_count)
{
    i64 i = global_thread() / 32;
    if (i >= count)
        return;
    i32 vertex = frontier[i], first = offsets[vertex], end = offsets[vertex + 1];
    for (i64 e = first; e < end; e += 32) { /* all lanes stay for append */
        bool mine = e + lane_id() < end;
        i32 neighbour = mine ? load_cached_i32(neighbours + e + lane_id()) : 0;
        bool found = mine && looks_unseen(distance, neighbour) && claim(distance, neighbour, level);
        append(found, neighbour, next, next_count);
    }
}
