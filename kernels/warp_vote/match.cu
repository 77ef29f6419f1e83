/*
 * match.cu: match.any asks for the lanes with the same value in one instruction, whatever the
 * number of bits. Groups only: for a flag it is a vote that takes longer.
 */
// arch: sm_75
#include "device.h"
#include "row.h"
#define BLOCK 256 // tune: 128 256 512
#define UNROLL 4 // tune: 1 2 4 8

KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    group(const i32 *in, i64 rows, u32, i32 *out, i32 *sizes)
{
    i32 value[UNROLL];
    for (i64 row = first_row(); row < rows; row += UNROLL * row_step()) {
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++) {
            i64 at = row + k * row_step();
            value[k] = at < rows ? (i32)load_stream_u32(in + at * 32 + lane_id()) : 0;
        }
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++) {
            i64 at = row + k * row_step();
            u32 before = count_bits(warp_match((u32)value[k]) & lanes_below());
            u32 distinct = count_bits(warp_ballot(before == 0));
            if (at < rows)
                out[at * 32 + lane_id()] = (i32)before;
            if (at < rows && lane_id() == 0)
                sizes[at] = (i32)distinct;
        }
    }
}
