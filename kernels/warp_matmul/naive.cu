/*
 * naive.cu: a thread an element of the product, everything from memory. The caches catch that each
 * row and column is read SIZE times, but every multiplication waits for two loads.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 128 256 512
#define EACH "naive.cu"
#include "each_size.h"
#else

KERNEL __launch_bounds__(BLOCK) NAME(multiply)(const f32 *a, const f32 *b, i64 batch, f32 *c)
{
    i64 i = global_thread(), matrix = i / (SIZE * SIZE) * (SIZE * SIZE);
    u32 row = (u32)(i - matrix) / SIZE, column = (u32)(i - matrix) % SIZE;
    if (i >= batch * SIZE * SIZE)
        return;
    f32 sum = 0;
    for (u32 k = 0; k < SIZE; k++)
        sum = fma_f32(a[matrix + row * SIZE + k], b[matrix + k * SIZE + column], sum);
    c[i] = sum;
}
#endif
