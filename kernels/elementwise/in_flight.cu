/*
 * in_flight.cu: all loads of a tile before its first store: UNROLL vectors of each input are on
 * their way from every thread, as many bytes as the memory's latency times its speed. A block's
 * tile is one stretch of memory, so that few DRAM pages are open at a time. What is read once does
 * not enter the L1, what is written leaves the L2 first. BLOCKS_PER_SM 0: a block for each tile,
 * else a grid that stays and walks over the tiles.
 */
// arch: sm_80
#ifndef EACH
#include "device.h"
#include "align.h"
#define BLOCK 1024 // tune: 128 256 512 1024
#define UNROLL 1 // tune: 1 2 4 8
#define BLOCKS_PER_SM 0 // tune: 0 1 2 4 8
#define LOAD_PAST_L1 0 // tune: 0 1 2
#define STORE_STREAMING 1 // tune: 0 1
#define TILE (BLOCK * UNROLL) /* vectors */

DEVICE f32x4 load_once(const f32 *at)
{
    return LOAD_PAST_L1 == 2   ? load_once_256_f32x4(at)
           : LOAD_PAST_L1 == 1 ? load_once_f32x4(at)
                               : load_f32x4(at);
}

DEVICE void store_once(f32 *at, f32x4 v)
{
    if (STORE_STREAMING)
        store_stream_f32x4(at, v);
    else
        store_global_f32x4(at, v);
}

#define EACH "in_flight.cu"
#include "each_operation.h"
#else

#define JOIN2(a, b) a##b
#define JOIN(a, b)  JOIN2(a, b)

/* here: how many vectors of the tile there are, if it is not whole. */
DEVICE void JOIN(NAME, _tile)(const f32 *x, const f32 *y, f32 *out, f32 scalar, bool whole,
                              u32 here)
{
    f32x4 a[UNROLL];
#if TWO
    f32x4 b[UNROLL];
#endif
    u32 me = thread_x();
    x += 4 * me, y += 4 * me, out += 4 * me; /* the rest are constants within the instructions */
#pragma unroll
    for (u32 k = 0; k < UNROLL; k++)
        if (whole || k * BLOCK + me < here) {
            a[k] = load_once(x + 4 * k * BLOCK);
#if TWO
            b[k] = load_once(y + 4 * k * BLOCK);
#endif
        }
#pragma unroll
    for (u32 k = 0; k < UNROLL; k++)
        if (whole || k * BLOCK + me < here) {
            f32x4 c = {APPLY(a[k].x, b[k].x, scalar), APPLY(a[k].y, b[k].y, scalar),
                       APPLY(a[k].z, b[k].z, scalar), APPLY(a[k].w, b[k].w, scalar)};
            store_once(out + 4 * k * BLOCK, c);
        }
}

KERNEL __launch_bounds__(BLOCK) NAME(const f32 *x, const f32 *y, f32 *out, f32 scalar, i64 n)
{
    parts p = split(x, y, out, n);
    i64 whole = p.vectors / TILE;
    for (i64 tile = block_x(); tile <= whole; tile += blocks_x()) {
        i64 i = p.head + 4 * TILE * tile;
        if (tile < whole)
            JOIN(NAME, _tile)(x + i, y + i, out + i, scalar, true, 0);
        else
            JOIN(NAME, _tile)(x + i, y + i, out + i, scalar, false, (u32)(p.vectors - TILE * tile));
    }

    i64 me = global_thread();
    if (me < p.head)
        out[me] = APPLY(x[me], y[me], scalar);
    for (i64 i = p.tail + me; i < n; i += global_threads())
        out[i] = APPLY(x[i], y[i], scalar);
}
#undef JOIN
#undef JOIN2
#endif
