/*
 * warp_per_segment.cu: 32 lanes read 32 neighbours of a segment at a time and add up by shuffles.
 * Lines are used whole; a segment shorter than a warp leaves lanes idle.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512

KERNEL __launch_bounds__(BLOCK)
    reduce(const f32 *values, const i32 *offsets, i64 segments, f32 *out)
{
    i64 segment = global_thread() / 32;
    if (segment >= segments)
        return;
    i32 end = offsets[segment + 1];
    f32 sum = 0;
    for (i64 i = offsets[segment] + (i64)lane_id(); i < end; i += 32)
        sum += values[i];
    for (u32 distance = 16; distance > 0; distance /= 2)
        sum += shuffle_down_f32(sum, distance);
    if (lane_id() == 0)
        out[segment] = sum;
}
