/*
 * adaptive_vector.cu: 2, 4, 8, 16 or 32 lanes for each row; the host takes as many as fit the mean
 * length, so that few lanes idle. Four nonzeros of a lane are on their way at a time: the column,
 * then the value of x that it names, are two waits for memory in a row, and only many of them side
 * by side fill it.
 */
// arch: sm_75
#ifndef LANES
#include "device.h"
#define BLOCK 256 // tune: 128 256 512
#define UNROLL 4 // tune: 2 4 8
#define JOIN2(a, b) a##b
#define JOIN(a, b)  JOIN2(a, b)

#define LANES 2
#include "adaptive_vector.cu"
#define LANES 4
#include "adaptive_vector.cu"
#define LANES 8
#include "adaptive_vector.cu"
#define LANES 16
#include "adaptive_vector.cu"
#define LANES 32
#include "adaptive_vector.cu"
#else

KERNEL __launch_bounds__(BLOCK) JOIN(multiply_, LANES)(const i32 *offsets, const i32 *columns,
                                                       const f32 *values, const f32 *x, i64 rows,
                                                       f32 *y)
{
    i64 row = global_thread() / LANES;
    i32 lane = (i32)(thread_x() % LANES);
    /* All lanes stay for the shuffles; those without a row have an empty one. */
    i64 j = 0, end = 0;
    if (row < rows) {
        j = (i64)load_cached_i32(offsets + row) + lane;
        end = load_cached_i32(offsets + row + 1);
    }
    f32 sum = 0;
    for (; j + (UNROLL - 1) * LANES < end; j += UNROLL * LANES) {
        i32 column[UNROLL];
        f32 value[UNROLL];
#pragma unroll
        for (i32 k = 0; k < UNROLL; k++) {
            column[k] = load_cached_i32(columns + j + k * LANES);
            value[k] = load_cached_f32(values + j + k * LANES);
        }
#pragma unroll
        for (i32 k = 0; k < UNROLL; k++)
            sum = fma_f32(value[k], load_cached_f32(x + column[k]), sum);
    }
    for (; j < end; j += LANES)
        sum = fma_f32(load_cached_f32(values + j),
                      load_cached_f32(x + load_cached_i32(columns + j)), sum);
    for (u32 lanes = LANES / 2; lanes > 0; lanes /= 2)
        sum += shuffle_xor_f32(sum, lanes);
    if (lane == 0 && row < rows)
        y[row] = sum;
}
#undef LANES
#endif
