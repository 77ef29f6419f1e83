/*
 * block_atomics.cu: one launch: each block reduces its share by shuffles and adds the outcome to
 * the result with one atomic. No workspace and no second pass, but floats come out in the order in
 * which the blocks finish. Sums only.
 */
// arch: sm_75
#ifndef EACH
#include "add_to.h"
#define BLOCK 512 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 4 // tune: 2 4 8

#define SUM_ONLY
#define EACH "block_atomics.cu"
#include "each_operation.h"
#else

KERNEL NAME(start)(OUT *result)
{
    *result = IDENTITY();
}

KERNEL NAME(reduce)(const T *in, i64 n, OUT *result)
{
    A a = IDENTITY();
    for (i64 i = global_thread(); i < n; i += global_threads())
        a = COMBINE(a, LIFT(in[i], i));
    a = REDUCE_BLOCK(a);
    if (thread_x() == 0)
        ADD_TO2(VALUE)(result, a);
}
#endif
