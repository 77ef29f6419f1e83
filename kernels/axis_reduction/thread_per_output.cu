/*
 * thread_per_output.cu: one thread adds up everything that goes into one output. Over columns the
 * threads of a warp read neighbours; over rows each walks a row of its own, and a warp touches 32
 * lines to use four bytes of each. With few outputs most of the GPU has nothing to do.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512

KERNEL reduce(const f32 *in, i64 outer, i64 middle, i64 inner, f32 *out)
{
    i64 i = global_thread();
    if (i >= outer * inner)
        return;
    const f32 *at = in + i / inner * middle * inner + i % inner;
    f32 sum = 0;
    for (i64 k = 0; k < middle; k++)
        sum += at[k * inner];
    out[i] = sum;
}
