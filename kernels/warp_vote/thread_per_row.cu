/*
 * thread_per_row.cu: one thread walks each row, as a CPU would. The threads of a warp read 128
 * bytes apart, and for groups each compares every pair.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 128 // tune: 64 128 256

KERNEL __launch_bounds__(BLOCK) compact(const i32 *in, i64 rows, u32, i32 *out, i32 *sizes)
{
    i64 row = global_thread();
    if (row >= rows)
        return;
    i32 count = 0;
    for (u32 i = 0; i < 32; i++)
        if (in[row * 32 + i])
            out[row * 32 + count++] = in[row * 32 + i];
    for (u32 i = count; i < 32; i++)
        out[row * 32 + i] = 0;
    sizes[row] = count;
}

KERNEL __launch_bounds__(BLOCK) group(const i32 *in, i64 rows, u32, i32 *out, i32 *sizes)
{
    i64 row = global_thread();
    if (row >= rows)
        return;
    i32 distinct = 0;
    for (u32 i = 0; i < 32; i++) {
        i32 before = 0;
        for (u32 j = 0; j < i; j++)
            before += in[row * 32 + j] == in[row * 32 + i];
        out[row * 32 + i] = before;
        distinct += before == 0;
    }
    sizes[row] = distinct;
}
