/*
 * vector.cu: a warp for each row. Lanes read neighbouring nonzeros, and a long row no longer holds
 * up 31 others; but a row shorter than 32 leaves lanes idle, and each row costs five shuffles.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512

KERNEL __launch_bounds__(BLOCK)
    multiply(const i32 *offsets, const i32 *columns, const f32 *values, const f32 *x, i64 rows,
             f32 *y)
{
    i64 row = global_thread() / 32;
    if (row >= rows)
        return;
    i32 lane = (i32)lane_id(), end = offsets[row + 1];
    f32 sum = 0;
    for (i64 j = (i64)offsets[row] + lane; j < end; j += 32)
        sum = fma_f32(values[j], x[columns[j]], sum);
    for (u32 lanes = 16; lanes > 0; lanes /= 2)
        sum += shuffle_down_f32(sum, lanes);
    if (lane == 0)
        y[row] = sum;
}
