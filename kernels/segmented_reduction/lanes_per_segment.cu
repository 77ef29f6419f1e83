/*
 * lanes_per_segment.cu: 1 to 32 lanes a segment, a power of two that suits the average length:
 * short segments fill a warp together. Lengths that differ much from the average still leave lanes
 * waiting for the longest segment of their warp.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512
#define UNROLL 4 // tune: 1 2 4

KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    reduce(const f32 *values, const i32 *offsets, i64 segments, u32 log_lanes, f32 *out)
{
    i64 segment = global_thread() >> log_lanes;
    u32 lanes = 1u << log_lanes, me = thread_x() & (lanes - 1);
    i64 i = 0, end = 0;
    if (segment < segments) {
        i = offsets[segment] + (i64)me;
        end = offsets[segment + 1];
    }
    f32 sum = 0;
    for (; i < end; i += UNROLL * lanes) {
        f32 v[UNROLL];
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            v[k] = i + k * lanes < end ? load_stream_f32(values + i + k * lanes) : 0;
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            sum += v[k];
    }
    for (u32 distance = lanes / 2; distance > 0; distance /= 2)
        sum += shuffle_xor_f32(sum, distance);
    if (segment < segments && me == 0)
        out[segment] = sum;
}
