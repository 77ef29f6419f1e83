/*
 * global_atomics.cu: degrees: a thread for each edge adds one to both of its vertices in memory.
 * The L2 does the additions, one after the other where they meet at one vertex.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512

KERNEL __launch_bounds__(BLOCK)
    count_degrees(const i32 *from, const i32 *to, i64 edges, u32 *degree)
{
    i64 edge = global_thread();
    if (edge >= edges)
        return;
    red_add_u32(degree + from[edge], 1);
    red_add_u32(degree + to[edge], 1);
}
