/*
 * bulk.cu: the inputs come by bulk copies into shared memory: one thread asks for a whole tile with
 * one instruction for each input, and a barrier counts the bytes. What is on its way then costs no
 * registers and no instructions of the other threads, and is asked for as soon as the block begins.
 * TILE_BYTES are loaded for a tile, of all inputs together; the tiles of all blocks on an SM should
 * be the memory's latency times its speed. A block has STAGES tiles one behind the other, and
 * starts the loads of all at once. Each block ends with its tiles: the hardware starts the next
 * one wherever there is room, whose loads overlap the stores of those that are there.
 * STORE   0 16 bytes a thread, 1 the same, first to leave the L2, 2 back into the tile and from
 *         there by a bulk copy, 3 four bytes a thread
 * HINT    1 x leaves the L2 first, 2 y, 4 what bulk copies write; a sum of these
 * OVERLAP 1: blocks begin before the launch before this one has ended, and wait for it
 */
// arch: sm_90
#ifndef EACH
#include "bulk.h"
#include "align.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define TILE_BYTES 6144 // tune: 4096 6144 8192 12288 16384 24576 32768
#define STAGES 1 // tune: 1 2 4
#define STORE 1 // tune: 0 1 2 3
#define HINT 0 // tune: 0 1 2 3 4 7
#define OVERLAP 0 // tune: 0 1

#define INPUT_BYTES (TILE_BYTES / (1 + TWO))
#define TILE        (INPUT_BYTES / 4) /* elements */
#define SPAN        (STAGES * TILE)   /* elements of a block */
#define WIDTH       (STORE == 3 ? 1 : 4)
#define ROUNDS      ((TILE + WIDTH * BLOCK - 1) / (WIDTH * BLOCK))

/* What the last block has: elements in whole vectors. */
DEVICE u32 rest_of(bool alike, i64 first, i64 n)
{
    return alike && first < n ? (u32)(n - first) / 4 * 4 : 0;
}

DEVICE void start_load(void *to, const f32 *from, u32 bytes, barrier *ready, bool leaves_first)
{
    if (leaves_first)
        bulk_load_hinted(to, from, bytes, ready, policy_evict_first());
    else
        bulk_load(to, from, bytes, ready);
}

DEVICE void start_store(f32 *to, const f32 *from, u32 bytes)
{
    if (HINT & 4)
        bulk_store_hinted(to, from, bytes, policy_evict_first());
    else
        bulk_store(to, from, bytes);
    bulk_commit();
}

#define EACH "bulk.cu"
#include "each_operation.h"
#else

#define JOIN2(a, b) a##b
#define JOIN(a, b)  JOIN2(a, b)

/* By one thread: the loads of here elements, stage after stage. */
DEVICE void JOIN(NAME, _start)(u8 *tiles, barrier *ready, const f32 *x, const f32 *y, u32 here)
{
#pragma unroll
    for (u32 s = 0; s < STAGES; s++) {
        if (s * TILE >= here)
            break;
        u32 bytes = 4 * (here - s * TILE < TILE ? here - s * TILE : TILE);
        u8 *tile = tiles + s * TILE_BYTES;
        barrier_arrive_expecting(ready + s, bytes * (1 + TWO));
        start_load(tile, x + s * TILE, bytes, ready + s, HINT & 1);
#if TWO
        start_load(tile + INPUT_BYTES, y + s * TILE, bytes, ready + s, HINT & 2);
#endif
    }
}

/* here elements of a tile that has come: x behind a, y behind b. */
DEVICE void JOIN(NAME, _tile)(f32 *a, const f32 *b, f32 *out, f32 scalar, u32 here)
{
#pragma unroll
    for (u32 k = 0; k < ROUNDS; k++) {
        u32 i = WIDTH * (k * BLOCK + thread_x());
        if (i >= here)
            break;
        if (STORE == 3) {
            out[i] = APPLY(a[i], b[i], scalar);
            continue;
        }
        f32x4 v = load_f32x4(a + i);
#if TWO
        f32x4 w = load_f32x4(b + i);
#endif
        f32x4 c = {APPLY(v.x, w.x, scalar), APPLY(v.y, w.y, scalar), APPLY(v.z, w.z, scalar),
                   APPLY(v.w, w.w, scalar)};
        if (STORE == 2)
            store_f32x4(a + i, c); /* nobody else reads these four */
        else if (STORE == 1)
            store_stream_f32x4(out + i, c);
        else
            store_global_f32x4(out + i, c);
    }
    if (STORE == 2) {
        bulk_fence();
        sync_block();
        if (thread_x() == 0)
            start_store(out, a, 4 * here);
    }
}

/* By all: each stage once it has come. */
DEVICE void JOIN(NAME, _finish)(u8 *tiles, barrier *ready, f32 *out, f32 scalar, u32 here)
{
#pragma unroll
    for (u32 s = 0; s < STAGES; s++) {
        if (s * TILE >= here)
            break;
        f32 *tile = (f32 *)(tiles + s * TILE_BYTES);
        barrier_wait(ready + s, 0);
        JOIN(NAME, _tile)(tile, tile + INPUT_BYTES / 4, out + s * TILE, scalar,
                          here - s * TILE < TILE ? here - s * TILE : TILE);
    }
    if (STORE == 2 && thread_x() == 0)
        bulk_wait_read(0); /* until then the tiles must be here */
}

/* The loads need nothing but their barriers, which the thread that starts them has made itself: no
 * barrier of the block stands before them. For the same reason a whole SPAN is told from the rest
 * by as little as will do, and is a constant from there on. */
KERNEL __launch_bounds__(BLOCK) NAME(const f32 *x, const f32 *y, f32 *out, f32 scalar, i64 n)
{
    DYNAMIC_SHARED(tiles);
    barrier *ready = (barrier *)(tiles + STAGES * TILE_BYTES);
    i64 first = before_vectors(out) + (i64)block_x() * SPAN;
    bool alike = lie_alike(x, y, out), whole = alike && first + SPAN <= n;
    if (OVERLAP)
        let_next_begin();
    if (thread_x() < 32 && warp_chooses_me()) {
        for (u32 s = 0; s < STAGES; s++)
            barrier_make(ready + s, 1);
        barrier_made();
        if (OVERLAP)
            wait_for_previous();
        if (whole)
            JOIN(NAME, _start)(tiles, ready, x + first, y + first, SPAN);
        else
            JOIN(NAME, _start)(tiles, ready, x + first, y + first, rest_of(alike, first, n));
    }
    sync_block();
    if (OVERLAP)
        wait_for_previous();

    /* While the tiles are on their way: what is not in whole vectors, or all. */
    parts p = split(x, y, out, n);
    i64 me = global_thread();
    if (me < p.head)
        out[me] = APPLY(x[me], y[me], scalar);
    for (i64 i = p.tail + me; i < n; i += global_threads())
        out[i] = APPLY(x[i], y[i], scalar);

    if (whole)
        JOIN(NAME, _finish)(tiles, ready, out + first, scalar, SPAN);
    else
        JOIN(NAME, _finish)(tiles, ready, out + first, scalar, rest_of(alike, first, n));
}
#undef JOIN
#undef JOIN2
#endif
