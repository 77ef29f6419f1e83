/*
 * split.cu: few outputs and a long axis: the axis is cut into pieces of `length`, one for each row
 * of blocks, so that all SMs work on every output. The pieces' sums lie side by side in the
 * workspace, and a second kernel adds them in a fixed order: the same input gives the same bits.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512
#define UNROLL 4 // tune: 2 4 8
#define BLOCKS_PER_SM 4 // tune: 2 4 8
#include "sums.h"

/* parts[outputs][pieces], or the outputs themselves if there is one piece. */
KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    rows(const f32 *in, i64 middle, i64 length, f32 *parts)
{
    i64 from = block_y() * length, count = least(length, middle - from);
    const f32 *row = in + (i64)block_x() * middle;
    f32 sum = sum_block(sum_share(row + from, count, thread_x(), BLOCK));
    if (thread_x() == 0)
        parts[(i64)block_x() * blocks_y() + block_y()] = sum;
}

#define WIDTH 1
#include "columns.h"
KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    columns_1(const f32 *in, i64 middle, i64 inner, u32 tiles, u32 wide, i64 length, f32 *parts)
{
    i64 plane = block_x() / tiles, first = (i64)(block_x() % tiles) * wide;
    i64 from = block_y() * length, to = least(from + length, middle);
    f32 sum = sum_columns_1(in + plane * middle * inner, from, to, inner, first, wide);
    i64 column = first + thread_x();
    if (thread_x() < wide && column < inner)
        store_1(&parts[(plane * inner + column) * blocks_y() + block_y()], blocks_y(), sum);
}
#include "columns_end.h"

#define WIDTH 4
#include "columns.h"
KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    columns_4(const f32 *in, i64 middle, i64 inner, u32 tiles, u32 wide, i64 length, f32 *parts)
{
    i64 plane = block_x() / tiles, first = (i64)(block_x() % tiles) * wide * 4;
    i64 from = block_y() * length, to = least(from + length, middle);
    f32x4 sum = sum_columns_4(in + plane * middle * inner, from, to, inner, first, wide);
    i64 column = first + thread_x() * 4;
    if (thread_x() < wide && column < inner)
        store_4(&parts[(plane * inner + column) * blocks_y() + block_y()], blocks_y(), sum);
}
#include "columns_end.h"

KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    combine(const f32 *parts, i64 outputs, u32 pieces, f32 *out)
{
    i64 output = global_thread() / 32;
    if (output >= outputs)
        return;
    f32 sum = 0;
    for (u32 k = lane_id(); k < pieces; k += 32)
        sum += parts[output * pieces + k];
    sum = sum_lanes(sum, 32);
    if (lane_id() == 0)
        out[output] = sum;
}
