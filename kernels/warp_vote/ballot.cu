/*
 * ballot.cu: one vote gives every lane the flags of all 32 as a word: the bits below its own are
 * those before it, and popc counts them. For groups a vote on each bit of the values tells who
 * agrees in all of them. UNROLL rows are on their way at a time.
 */
// arch: sm_75
#include "device.h"
#include "row.h"
#define BLOCK 256 // tune: 128 256 512
#define UNROLL 4 // tune: 1 2 4 8

/* The warp's next UNROLL rows; zeros behind the end. */
DEVICE void load_rows(const i32 *in, i64 row, i64 rows, i32 *value)
{
#pragma unroll
    for (u32 k = 0; k < UNROLL; k++) {
        i64 at = row + k * row_step();
        value[k] = at < rows ? (i32)load_stream_u32(in + at * 32 + lane_id()) : 0;
    }
}

KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    compact(const i32 *in, i64 rows, u32, i32 *out, i32 *sizes)
{
    i32 value[UNROLL];
    for (i64 row = first_row(); row < rows; row += UNROLL * row_step()) {
        load_rows(in, row, rows, value);
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++) {
            i64 at = row + k * row_step();
            u32 votes = warp_ballot(value[k] != 0), count = count_bits(votes);
            if (at < rows)
                store_compacted(out, at, value[k], count_bits(votes & lanes_below()), count);
            if (at < rows && lane_id() == 0)
                sizes[at] = (i32)count;
        }
    }
}

/* The lanes whose value is the same, by its lowest bits. */
DEVICE u32 lanes_alike(i32 value, u32 bits)
{
    u32 same = FULL_WARP;
    for (u32 bit = 0; bit < bits; bit++) {
        bool set = value >> bit & 1;
        u32 votes = warp_ballot(set);
        same &= set ? votes : ~votes;
    }
    return same;
}

KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    group(const i32 *in, i64 rows, u32 bits, i32 *out, i32 *sizes)
{
    i32 value[UNROLL];
    for (i64 row = first_row(); row < rows; row += UNROLL * row_step()) {
        load_rows(in, row, rows, value);
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++) {
            i64 at = row + k * row_step();
            u32 before = count_bits(lanes_alike(value[k], bits) & lanes_below());
            u32 distinct = count_bits(warp_ballot(before == 0));
            if (at < rows)
                out[at * 32 + lane_id()] = (i32)before;
            if (at < rows && lane_id() == 0)
                sizes[at] = (i32)distinct;
        }
    }
}
