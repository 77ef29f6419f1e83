/*
 * look_back.cu: one pass, 2n bytes: decoupled look-back. A block takes the next tile, announces
 * its sum, then looks back over the announcements before it, 32 at a time, until it meets a block
 * that knows its whole prefix. A block waits only for tiles taken before its own, so that it
 * always ends.
 */
// arch: sm_75
#ifndef EACH
#include "clear.h"
#define BLOCK 256 // tune: 128 256 512
#define ROWS 8 // tune: 2 4 8
#define WARPS (BLOCK / 32)
#define WARP_ELEMENTS (128 * ROWS)
#define TILE ((i64)BLOCK * 4 * ROWS)
/* What a tile has announced, in the upper half of a word; the number is in the lower. */
#define NOTHING 0u
#define SUM     1u /* of the tile */
#define PREFIX  2u /* of everything up to its end */
#define EACH "look_back.cu"
#include "each_type.h"
#else

DEVICE void NAME(announce)(u64 *states, i64 tile, u32 what, T number)
{
    store_relaxed_u64(states + tile, (u64)what << 32 | BITS(number));
}

/* What comes before the tile; by one whole warp. */
DEVICE T NAME(look_back)(const u64 *states, i64 tile)
{
    T before = 0;
    for (i64 last = tile - 1;; last -= 32) {
        i64 mine = last - lane_id();
        u64 state;
        do
            state = mine >= 0 ? load_relaxed_u64(states + mine) : (u64)PREFIX << 32;
        while (warp_any((u32)(state >> 32) == NOTHING));
        u32 whole = warp_ballot((u32)(state >> 32) == PREFIX);
        T number = FROM_BITS((u32)state);
        before += SUM_WARP(lane_id() <= lowest_bit(whole) ? number : 0);
        if (whole)
            return before;
    }
}

KERNEL __launch_bounds__(BLOCK) NAME(scan)(const T *in, i64 n, T *out, u32 *ticket, u64 *states,
                                            i32 exclusive)
{
    __shared__ T warp_sum[WARPS];
    __shared__ T before_tile;
    __shared__ u32 taken;
    u32 thread = thread_x(), warp = thread / 32, lane = thread % 32;
    if (thread == 0)
        taken = atomic_add_u32(ticket, 1);
    sync_block();
    i64 tile = taken, start = tile * TILE + warp * WARP_ELEMENTS + lane * 4;
    bool aligned = is_aligned(in, 16) && is_aligned(out, 16);

    T4 v[ROWS];
    T up_to[ROWS], sum = 0;
#pragma unroll
    for (u32 row = 0; row < ROWS; row++)
        v[row] = LOAD4(in + start + row * 128, n - (start + row * 128), aligned);
#pragma unroll
    for (u32 row = 0; row < ROWS; row++) {
        up_to[row] = SCAN_WARP((v[row].x + v[row].y) + (v[row].z + v[row].w));
        sum += OF_LANE(up_to[row], 31);
    }
    if (lane == 0)
        warp_sum[warp] = sum;
    sync_block();
    if (warp == 0) {
        T all = SUM_WARP(lane < WARPS ? warp_sum[lane] : 0);
        if (lane == 0)
            NAME(announce)(states, tile, tile ? SUM : PREFIX, all);
        T before = tile ? NAME(look_back)(states, tile) : 0;
        if (lane == 0) {
            before_tile = before;
            if (tile)
                NAME(announce)(states, tile, PREFIX, before + all);
        }
    }
    sync_block();

    T before = before_tile;
    for (u32 other = 0; other < warp; other++)
        before += warp_sum[other];
#pragma unroll
    for (u32 row = 0; row < ROWS; row++) {
        i64 at = start + row * 128;
        T below = UP(up_to[row], 1);
        STORE4(out + at, n - at, aligned,
               NAME(scan4)(v[row], lane ? before + below : before, exclusive != 0));
        before += OF_LANE(up_to[row], 31);
    }
}
#endif
