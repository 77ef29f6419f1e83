/*
 * shuffle.cu: registers instead of shared memory: a prefix sum of the flags in five shuffles, and
 * for groups every other element comes by once, in 31.
 */
// arch: sm_75
#include "device.h"
#include "row.h"
#define BLOCK 256 // tune: 128 256 512

/* The sum up to and with this lane. */
DEVICE u32 prefix_sum(u32 value)
{
    for (u32 distance = 1; distance < 32; distance *= 2) {
        u32 below = shuffle_up_u32(value, distance);
        value += lane_id() >= distance ? below : 0;
    }
    return value;
}

KERNEL __launch_bounds__(BLOCK) compact(const i32 *in, i64 rows, u32, i32 *out, i32 *sizes)
{
    u32 lane = lane_id();
    for (i64 row = first_row(); row < rows; row += row_step()) {
        i32 value = in[row * 32 + lane];
        u32 with = prefix_sum(value != 0), count = shuffle_u32(with, 31);
        store_compacted(out, row, value, with - (value != 0), count);
        if (lane == 0)
            sizes[row] = (i32)count;
    }
}

KERNEL __launch_bounds__(BLOCK) group(const i32 *in, i64 rows, u32, i32 *out, i32 *sizes)
{
    u32 lane = lane_id();
    for (i64 row = first_row(); row < rows; row += row_step()) {
        i32 value = in[row * 32 + lane];
        u32 before = 0;
        for (u32 distance = 1; distance < 32; distance++) {
            i32 other = shuffle_up_i32(value, distance);
            before += lane >= distance && other == value;
        }
        u32 distinct = prefix_sum(before == 0);
        out[row * 32 + lane] = (i32)before;
        if (lane == 31)
            sizes[row] = (i32)distinct;
    }
}
