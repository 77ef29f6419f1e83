/*
 * shared_private.cu: degrees of a graph with so few vertices that a block can count them all in
 * shared memory; each block adds its counts to the result at the end. Edges come in by 16-byte
 * loads. Memory sees blocks * vertices atomics in place of two for each edge.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 512 // tune: 256 512 1024
#define UNROLL 2 // tune: 1 2 4
#define BLOCKS_PER_SM 4 // tune: 1 2 4

/* One end of all edges, each thread its share; what lies off 16 bytes by single words. */
DEVICE void count_ends(const i32 *ends, i64 edges, u32 *count)
{
    i64 me = global_thread(), all_threads = global_threads();
    i64 head = least(edges, (i64)((16 - (u64)ends % 16) % 16 / 4));
    i64 vectors = (edges - head) / 4, tail = head + 4 * vectors;
    if (me < head)
        shared_red_add_u32(count + ends[me], 1);
    if (me < edges - tail)
        shared_red_add_u32(count + ends[tail + me], 1);
    for (i64 i = me; i < vectors; i += UNROLL * all_threads) {
        u32x4 v[UNROLL];
#pragma unroll
        for (i32 k = 0; k < UNROLL; k++)
            if (i + k * all_threads < vectors)
                v[k] = load_stream_u32x4(ends + head + 4 * (i + k * all_threads));
#pragma unroll
        for (i32 k = 0; k < UNROLL; k++)
            if (i + k * all_threads < vectors) {
                shared_red_add_u32(count + v[k].x, 1);
                shared_red_add_u32(count + v[k].y, 1);
                shared_red_add_u32(count + v[k].z, 1);
                shared_red_add_u32(count + v[k].w, 1);
            }
    }
}

KERNEL __launch_bounds__(BLOCK)
    count_degrees(const i32 *from, const i32 *to, i64 edges, i64 vertices, u32 *degree)
{
    DYNAMIC_SHARED(memory);
    u32 *count = (u32 *)memory; /* [vertices] */
    for (i64 v = thread_x(); v < vertices; v += BLOCK)
        count[v] = 0;
    sync_block();
    count_ends(from, edges, count);
    count_ends(to, edges, count);
    sync_block();
    for (i64 v = thread_x(); v < vertices; v += BLOCK)
        if (count[v] > 0)
            red_add_u32(degree + v, count[v]);
}
