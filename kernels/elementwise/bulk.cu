/*
 * bulk.cu: the inputs come by bulk copies into shared memory: one thread asks for a whole tile with
 * one instruction for each input, and a barrier counts the bytes. What is on its way then costs no
 * registers and no instructions of the other threads, and is asked for as soon as the block begins.
 * TILE_BYTES are loaded for a tile, of both inputs together; all tiles on an SM together should be
 * the memory's latency times its speed. Each block ends with its tile: the hardware starts the next
 * one wherever there is room, whose loads overlap the stores of those that are there.
 * Operations with one input have a block and a tile of their own size, and gain nothing by stores
 * that leave the L2 first.
 */
// arch: sm_90
#ifndef EACH
#include "bulk.h"
#include "align.h"
#define BLOCK 256 // tune: 128 192 256 512
#define TILE_BYTES 6144 // tune: 4096 5120 6144 8192 16384
#define BLOCK_OF_ONE 128 // tune: 128 192 256 512
#define TILE_BYTES_OF_ONE 4096 // tune: 4096 5120 6144 8192 16384

#define THREADS (TWO ? BLOCK : BLOCK_OF_ONE)
#define TILE    (TWO ? TILE_BYTES / 8 : TILE_BYTES_OF_ONE / 4) /* elements */

/* What the last block has: elements in whole vectors. */
DEVICE u32 rest_of(bool alike, i64 first, i64 n)
{
    return alike && first < n ? (u32)(n - first) / 4 * 4 : 0;
}

#define EACH "bulk.cu"
#include "each_operation.h"
#else

#define JOIN2(a, b) a##b
#define JOIN(a, b)  JOIN2(a, b)

/* By one thread: the loads of so many elements. */
DEVICE void JOIN(NAME, _start)(f32 *tile, barrier *ready, const f32 *x, const f32 *y, u32 here)
{
    if (here == 0)
        return;
    barrier_arrive_expecting(ready, 4 * here * (1 + TWO));
    bulk_load(tile, x, 4 * here, ready);
#if TWO
    bulk_load(tile + TILE, y, 4 * here, ready);
#endif
}

/* By all, once they have come. */
DEVICE void JOIN(NAME, _finish)(const f32 *tile, barrier *ready, f32 *out, f32 scalar, u32 here)
{
    if (here == 0)
        return;
    barrier_wait(ready, 0);
#pragma unroll
    for (u32 k = 0; k < (TILE + 4 * THREADS - 1) / (4 * THREADS); k++) {
        u32 i = 4 * (k * THREADS + thread_x());
        if (i >= here)
            break;
        f32x4 v = load_f32x4(tile + i);
#if TWO
        f32x4 w = load_f32x4(tile + TILE + i);
#endif
        f32x4 c = {APPLY(v.x, w.x, scalar), APPLY(v.y, w.y, scalar), APPLY(v.z, w.z, scalar),
                   APPLY(v.w, w.w, scalar)};
        if (TWO)
            store_stream_f32x4(out + i, c);
        else
            store_global_f32x4(out + i, c);
    }
}

/* The loads need nothing but their barrier, which the thread that starts them has made itself: no
 * barrier of the block stands before them. For the same reason a whole tile is told from the rest
 * by as little as will do, and is a constant from there on. */
KERNEL __launch_bounds__(THREADS) NAME(const f32 *x, const f32 *y, f32 *out, f32 scalar, i64 n)
{
    __shared__ __align__(16) f32 tile[TILE * (1 + TWO)];
    __shared__ barrier ready;
    i64 first = before_vectors(out) + (i64)block_x() * TILE;
    bool alike = lie_alike(x, y, out), whole = alike && first + TILE <= n;
    if (thread_x() < 32 && warp_chooses_me()) {
        barrier_make(&ready, 1);
        barrier_made();
        if (whole)
            JOIN(NAME, _start)(tile, &ready, x + first, y + first, TILE);
        else
            JOIN(NAME, _start)(tile, &ready, x + first, y + first, rest_of(alike, first, n));
    }
    sync_block();

    /* While the tile is on its way: what is not in whole vectors, or all. */
    parts p = split(x, y, out, n);
    i64 me = global_thread();
    if (me < p.head)
        out[me] = APPLY(x[me], y[me], scalar);
    for (i64 i = p.tail + me; i < n; i += global_threads())
        out[i] = APPLY(x[i], y[i], scalar);

    if (whole)
        JOIN(NAME, _finish)(tile, &ready, out + first, scalar, TILE);
    else
        JOIN(NAME, _finish)(tile, &ready, out + first, scalar, rest_of(alike, first, n));
}
#undef JOIN
#undef JOIN2
#endif
