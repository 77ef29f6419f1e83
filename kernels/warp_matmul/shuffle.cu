/*
 * shuffle.cu: no shared memory and no barrier: a lane holds a column of b in registers and one
 * element of a row of a at a time; the lanes hand the row round by shuffles. A warp takes one
 * matrix of 32, or two of 16. A shuffle for every multiplication is what limits it.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 128 // tune: 64 128 256
#define EACH "shuffle.cu"
#include "each_size.h"
#else

KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    NAME(multiply)(const f32 *a, const f32 *b, i64 batch, f32 *c)
{
    u32 column = thread_x() % SIZE, first = lane_id() / SIZE * SIZE;
    i64 matrix = global_thread() / SIZE;
    bool mine = matrix < batch;
    const f32 *left = a + matrix * SIZE * SIZE + column, *right = b + matrix * SIZE * SIZE + column;
    f32 *product = c + matrix * SIZE * SIZE + column, of_column[SIZE];
#pragma unroll
    for (u32 k = 0; k < SIZE; k++)
        of_column[k] = mine ? load_stream_f32(right + k * SIZE) : 0;
#pragma unroll 4
    for (u32 row = 0; row < SIZE; row++) {
        f32 of_row = mine ? load_stream_f32(left + row * SIZE) : 0, sum = 0;
#pragma unroll
        for (u32 k = 0; k < SIZE; k++)
            sum = fma_f32(shuffle_f32(of_row, first + k), of_column[k], sum);
        if (mine)
            product[row * SIZE] = sum;
    }
}
#endif
