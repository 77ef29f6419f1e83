/*
 * warp_aggregated.cu: degrees: lanes that hold the same vertex find each other (match.any), and one
 * of them adds for all. A list sorted by one end, or a graph with a few vertices that everybody
 * knows, sends a fraction of the atomics; where no two lanes agree the match is paid for nothing.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512
#define UNROLL 4 // tune: 2 4 8
#define NOBODY 0xffffffffu

DEVICE void add_for_all(u32 vertex, u32 *degree) /* all lanes take part */
{
    u32 same = warp_match(vertex);
    if (vertex != NOBODY && lowest_bit(same) == lane_id())
        red_add_u32(degree + vertex, count_bits(same));
}

/* A block's share of edges, UNROLL loads of a thread at a time. */
KERNEL __launch_bounds__(BLOCK)
    count_degrees(const i32 *from, const i32 *to, i64 edges, u32 *degree)
{
    i64 first = (i64)block_x() * BLOCK * UNROLL + thread_x();
    u32 a[UNROLL], b[UNROLL];
#pragma unroll
    for (i32 k = 0; k < UNROLL; k++) {
        i64 edge = first + k * BLOCK;
        a[k] = edge < edges ? load_stream_u32(from + edge) : NOBODY;
        b[k] = edge < edges ? load_stream_u32(to + edge) : NOBODY;
    }
#pragma unroll
    for (i32 k = 0; k < UNROLL; k++) {
        add_for_all(a[k], degree);
        add_for_all(b[k], degree);
    }
}
