/*
 * select_rows.h: what one warp keeps of its rows of 128 elements, four neighbours a lane.
 */
#ifndef LOCKSTEP_COMPACTION_SELECT_ROWS_H
#define LOCKSTEP_COMPACTION_SELECT_ROWS_H

#include "device.h"

/* Every lane gets the sum. */
DEVICE u32 sum_warp(u32 mine)
{
    for (u32 lanes = 16; lanes > 0; lanes /= 2)
        mine += shuffle_xor_u32(mine, lanes);
    return mine;
}

/* Four neighbours, of which the first left are there; the rest is zero. */
DEVICE f32x4 load_four(const f32 *at, i64 left, bool aligned)
{
    if (aligned && left >= 4)
        return load_stream_f32x4(at);
    f32x4 v = {left > 0 ? at[0] : 0, left > 1 ? at[1] : 0, left > 2 ? at[2] : 0,
               left > 3 ? at[3] : 0};
    return v;
}

/* Bit k: element k of the four is there and is kept. */
DEVICE u32 kept_of_four(f32x4 v, i64 left, f32 threshold)
{
    u32 there = left >= 4 ? 15u : left > 0 ? (1u << left) - 1 : 0;
    u32 large = (u32)(v.x > threshold) | (u32)(v.y > threshold) << 1 | (u32)(v.z > threshold) << 2 |
                (u32)(v.w > threshold) << 3;
    return there & large;
}

/* Writes one row's kept elements from kept[count] on; returns how many there are then. All lanes
 * have read the row before any writes, because kept may be where the rows lie. */
DEVICE u32 keep_row(f32x4 v, u32 mine, f32 *kept, u32 count)
{
    u32 below = lanes_below(), in_row = 0, rank = count;
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        u32 lanes = warp_ballot(mine >> k & 1);
        in_row += count_bits(lanes);
        rank += count_bits(lanes & below);
    }
    sync_warp();
    if (mine & 1)
        kept[rank++] = v.x;
    if (mine & 2)
        kept[rank++] = v.y;
    if (mine & 4)
        kept[rank++] = v.z;
    if (mine & 8)
        kept[rank] = v.w;
    return count + in_row;
}

/* From shared memory to where they belong, neighbours by neighbouring lanes. */
DEVICE void write_kept(const f32 *kept, u32 count, f32 *out)
{
    sync_warp();
    for (u32 i = thread_x() % 32; i < count; i += 32)
        store_stream_f32(out + i, kept[i]);
    sync_warp();
}

#endif
