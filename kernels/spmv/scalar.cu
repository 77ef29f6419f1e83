/*
 * scalar.cu: a thread for each row. Neighbouring lanes read from places a row's length apart, so
 * that one load of a warp touches up to 32 sectors, and a warp is as slow as its longest row.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512

KERNEL __launch_bounds__(BLOCK)
    multiply(const i32 *offsets, const i32 *columns, const f32 *values, const f32 *x, i64 rows,
             f32 *y)
{
    i64 row = global_thread();
    if (row >= rows)
        return;
    f32 sum = 0;
    for (i32 j = offsets[row]; j < offsets[row + 1]; j++)
        sum = fma_f32(values[j], x[columns[j]], sum);
    y[row] = sum;
}
