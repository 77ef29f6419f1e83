/*
 * shared.cu: a block fetches both matrices into shared memory once, side by side, and its threads
 * read them from there. Memory sees each element once; shared memory still sees two reads for every
 * multiplication.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 128 256
#define EACH "shared.cu"
#include "each_size.h"
#else

KERNEL __launch_bounds__(BLOCK) NAME(multiply)(const f32 *a, const f32 *b, i64, f32 *c)
{
    __shared__ f32 left[SIZE * SIZE], right[SIZE * SIZE];
    i64 matrix = (i64)block_x() * SIZE * SIZE;
#pragma unroll
    for (u32 i = thread_x(); i < SIZE * SIZE; i += BLOCK) {
        left[i] = a[matrix + i];
        right[i] = b[matrix + i];
    }
    sync_block();
    for (u32 i = thread_x(); i < SIZE * SIZE; i += BLOCK) {
        f32 sum = 0;
#pragma unroll
        for (u32 k = 0; k < SIZE; k++)
            sum = fma_f32(left[i / SIZE * SIZE + k], right[k * SIZE + i % SIZE], sum);
        c[matrix + i] = sum;
    }
}
#endif
