/*
 * shared.cu: a thread an element, and the row in shared memory, where every thread looks through
 * the elements before its own. Memory is read side by side; 31 more reads of shared memory and
 * their comparisons are what each element costs.
 */
// arch: sm_75
#include "device.h"
#include "row.h"
#define BLOCK 256 // tune: 128 256 512

/* How many of the warp's elements before this one are the same (or, with any, not zero). */
DEVICE u32 count_before(i32 value, bool any, u32 lanes)
{
    __shared__ i32 all[BLOCK];
    i32 *row = all + thread_x() / 32 * 32;
    row[lane_id()] = value;
    sync_warp();
    u32 count = 0;
    for (u32 i = 0; i < lanes; i++)
        count += any ? row[i] != 0 : row[i] == value;
    sync_warp();
    return count;
}

KERNEL __launch_bounds__(BLOCK) compact(const i32 *in, i64 rows, u32, i32 *out, i32 *sizes)
{
    u32 lane = lane_id();
    for (i64 row = first_row(); row < rows; row += row_step()) {
        i32 value = in[row * 32 + lane];
        u32 before = count_before(value, true, lane), count = count_before(value, true, 32);
        store_compacted(out, row, value, before, count);
        if (lane == 0)
            sizes[row] = (i32)count;
    }
}

KERNEL __launch_bounds__(BLOCK) group(const i32 *in, i64 rows, u32, i32 *out, i32 *sizes)
{
    u32 lane = lane_id();
    for (i64 row = first_row(); row < rows; row += row_step()) {
        u32 before = count_before(in[row * 32 + lane], false, lane);
        u32 distinct = count_before(before == 0, true, 32);
        out[row * 32 + lane] = (i32)before;
        if (lane == 0)
            sizes[row] = (i32)distinct;
    }
}
