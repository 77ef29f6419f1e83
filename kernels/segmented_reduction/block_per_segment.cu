/*
 * block_per_segment.cu: a block for each segment. Long segments finish sooner; short ones, and
 * empty ones above all, cost a block each.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512

KERNEL __launch_bounds__(BLOCK) reduce(const f32 *values, const i32 *offsets, f32 *out)
{
    __shared__ f32 of_warp[BLOCK / 32];
    u32 thread = thread_x();
    i32 end = offsets[block_x() + 1];
    f32 sum = 0;
    for (i64 i = offsets[block_x()] + (i64)thread; i < end; i += BLOCK)
        sum += values[i];
    for (u32 distance = 16; distance > 0; distance /= 2)
        sum += shuffle_down_f32(sum, distance);
    if (thread % 32 == 0)
        of_warp[thread / 32] = sum;
    sync_block();
    if (thread > 0)
        return;
    for (u32 warp = 1; warp < BLOCK / 32; warp++)
        sum += of_warp[warp];
    out[block_x()] = sum;
}
