/*
 * thread_per_segment.cu: one thread adds up each segment. Neighbouring threads read far apart
 * unless segments are very short, and a warp lasts as long as its longest segment.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512

KERNEL __launch_bounds__(BLOCK)
    reduce(const f32 *values, const i32 *offsets, i64 segments, f32 *out)
{
    i64 segment = global_thread();
    if (segment >= segments)
        return;
    f32 sum = 0;
    for (i32 i = offsets[segment]; i < offsets[segment + 1]; i++)
        sum += values[i];
    out[segment] = sum;
}
