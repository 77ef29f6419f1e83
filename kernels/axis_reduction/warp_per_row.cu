/*
 * warp_per_row.cu: the 32 lanes of a warp read 32 neighbours of a row at a time, so that every line
 * is used whole, and add up by shuffles. Rows only. A row shorter than a warp leaves lanes idle.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512 1024
#include "sums.h"

KERNEL __launch_bounds__(BLOCK) reduce(const f32 *in, i64 rows, i64 length, f32 *out)
{
    i64 row = global_thread() / 32;
    if (row >= rows)
        return;
    const f32 *at = in + row * length;
    f32 sum = 0;
    for (i64 k = lane_id(); k < length; k += 32)
        sum += at[k];
    sum = sum_lanes(sum, 32);
    if (lane_id() == 0)
        out[row] = sum;
}
