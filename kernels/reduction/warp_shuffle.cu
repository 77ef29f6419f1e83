/*
 * warp_shuffle.cu: lanes hand their values to each other through registers; shared memory holds one
 * value a warp, and a block waits once instead of eight times.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 4 8 16
#define EACH "warp_shuffle.cu"
#include "each_operation.h"
#else

KERNEL NAME(reduce)(const T *in, i64 n, A *partials, OUT *result)
{
    A a = IDENTITY();
    for (i64 i = global_thread(); i < n; i += global_threads())
        a = COMBINE(a, LIFT(in[i], i));
    LEAVE(REDUCE_BLOCK(a), partials, result);
}

KERNEL NAME(again)(const A *in, i64 n, A *partials, OUT *result)
{
    A a = IDENTITY();
    for (i64 i = global_thread(); i < n; i += global_threads())
        a = COMBINE(a, in[i]);
    LEAVE(REDUCE_BLOCK(a), partials, result);
}
#endif
