/*
 * vectorised.cu: 16-byte loads, UNROLL of them in flight a thread, past the L1. Rows go to as many
 * lanes as they have work for, from one to a block; columns to lanes of four, and narrow planes to
 * several rows a warp. What is small goes to one thread an output.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512
#define UNROLL 4 // tune: 2 4 8
#include "sums.h"

/* 1 << log_lanes lanes, 32 at most, for each row. */
KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    rows(const f32 *in, i64 rows, i64 length, u32 log_lanes, f32 *out)
{
    i64 row = global_thread() >> log_lanes;
    u32 lanes = 1u << log_lanes, me = thread_x() & (lanes - 1);
    f32 sum = row < rows ? sum_share(in + row * length, length, me, lanes) : 0;
    sum = sum_lanes(sum, lanes);
    if (row < rows && me == 0)
        out[row] = sum;
}

KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK) long_rows(const f32 *in, i64 length, f32 *out)
{
    f32 sum = sum_block(sum_share(in + (i64)block_x() * length, length, thread_x(), BLOCK));
    if (thread_x() == 0)
        out[block_x()] = sum;
}

KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    outputs(const f32 *in, i64 outer, i64 middle, i64 inner, f32 *out)
{
    i64 i = global_thread();
    if (i >= outer * inner)
        return;
    const f32 *at = in + i / inner * middle * inner + i % inner;
    f32 sum = 0;
#pragma unroll 4
    for (i64 k = 0; k < middle; k++)
        sum += at[k * inner];
    out[i] = sum;
}

#define WIDTH 1
#include "columns.h"
KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    columns_1(const f32 *in, i64 middle, i64 inner, u32 tiles, u32 wide, f32 *out)
{
    i64 plane = block_x() / tiles, first = (i64)(block_x() % tiles) * wide;
    f32 sum = sum_columns_1(in + plane * middle * inner, 0, middle, inner, first, wide);
    i64 column = first + thread_x();
    if (thread_x() < wide && column < inner)
        store_1(&out[plane * inner + column], 1, sum);
}
#include "columns_end.h"

#define WIDTH 4
#include "columns.h"
KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    columns_4(const f32 *in, i64 middle, i64 inner, u32 tiles, u32 wide, f32 *out)
{
    i64 plane = block_x() / tiles, first = (i64)(block_x() % tiles) * wide * 4;
    f32x4 sum = sum_columns_4(in + plane * middle * inner, 0, middle, inner, first, wide);
    i64 column = first + thread_x() * 4;
    if (thread_x() < wide && column < inner)
        store_4(&out[plane * inner + column], 1, sum);
}
#include "columns_end.h"
