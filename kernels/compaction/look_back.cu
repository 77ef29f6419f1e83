/*
 * look_back.cu: one pass: a block takes the next tile, announces how many it keeps and looks back
 * for the counts before it (see scan/look_back.cu), so that the input is read once. Kept elements
 * are packed in shared memory first, so that writes are whole lines.
 */
// arch: sm_75
#include "clear.h"
#include "select_rows.h"
#define BLOCK 256 // tune: 128 256 512
#define ROWS 8 // tune: 2 4 8
#define WARPS (BLOCK / 32)
#define WARP_ELEMENTS (128 * ROWS)
#define TILE ((i64)BLOCK * 4 * ROWS)
/* What a tile has announced, in a word's upper two bits; the number is below. */
#define COUNT  1ull /* of the tile */
#define PREFIX 2ull /* of everything up to its end */
#define NUMBER 0x3fffffffffffffffull

/* How many are kept before the tile; by one whole warp. */
DEVICE i64 look_back(const u64 *states, i64 tile)
{
    u64 before = 0;
    for (i64 last = tile - 1;; last -= 32) {
        i64 mine = last - lane_id();
        u64 state;
        do
            state = mine >= 0 ? load_relaxed_u64(states + mine) : PREFIX << 62;
        while (warp_any(state >> 62 == 0));
        u32 whole = warp_ballot(state >> 62 == PREFIX);
        u64 number = lane_id() <= lowest_bit(whole) ? state & NUMBER : 0;
        for (u32 lanes = 16; lanes > 0; lanes /= 2)
            number += shuffle_xor_u64(number, lanes);
        before += number;
        if (whole)
            return (i64)before;
    }
}

KERNEL __launch_bounds__(BLOCK) compact(const f32 *in, i64 n, f32 threshold, f32 *out, i64 *total,
                                        u32 *ticket, u64 *states)
{
    __shared__ f32 kept[WARPS][WARP_ELEMENTS];
    __shared__ u32 kept_by[WARPS];
    __shared__ i64 before_tile;
    __shared__ u32 taken;
    u32 thread = thread_x(), warp = thread / 32, lane = thread % 32;
    if (thread == 0)
        taken = atomic_add_u32(ticket, 1);
    sync_block();
    i64 tile = taken, start = tile * TILE + warp * WARP_ELEMENTS + lane * 4;
    bool aligned = is_aligned(in, 16);

    f32x4 v[ROWS];
#pragma unroll
    for (u32 row = 0; row < ROWS; row++)
        v[row] = load_four(in + start + row * 128, n - (start + row * 128), aligned);
    u32 count = 0;
#pragma unroll
    for (u32 row = 0; row < ROWS; row++)
        count = keep_row(v[row], kept_of_four(v[row], n - (start + row * 128), threshold),
                         kept[warp], count);
    if (lane == 0)
        kept_by[warp] = count;
    sync_block();
    if (warp == 0) {
        u32 all = sum_warp(lane < WARPS ? kept_by[lane] : 0);
        if (lane == 0)
            store_relaxed_u64(states + tile, (tile ? COUNT : PREFIX) << 62 | all);
        i64 before = tile ? look_back(states, tile) : 0;
        if (lane == 0) {
            before_tile = before;
            if (tile)
                store_relaxed_u64(states + tile, PREFIX << 62 | (u64)(before + all));
            if (tile == blocks_x() - 1)
                *total = before + all;
        }
    }
    sync_block();
    i64 at = before_tile;
    for (u32 other = 0; other < warp; other++)
        at += kept_by[other];
    write_kept(kept[warp], count, out + at);
}
