/*
 * shared_tree.cu: each thread first combines many elements, a grid apart, in a register; the tree
 * in shared memory then runs once a block instead of once every 256 elements.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 4 8 16
#define EACH "shared_tree.cu"
#include "each_operation.h"
#else

DEVICE void NAME(tree)(A mine, A *partials, OUT *result)
{
    __shared__ A partial[BLOCK];
    u32 thread = thread_x();
    partial[thread] = mine;
    sync_block();
    for (u32 distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (thread < distance)
            partial[thread] = COMBINE(partial[thread], partial[thread + distance]);
        sync_block();
    }
    LEAVE(partial[0], partials, result);
}

KERNEL NAME(reduce)(const T *in, i64 n, A *partials, OUT *result)
{
    A a = IDENTITY();
    for (i64 i = global_thread(); i < n; i += global_threads())
        a = COMBINE(a, LIFT(in[i], i));
    NAME(tree)(a, partials, result);
}

KERNEL NAME(again)(const A *in, i64 n, A *partials, OUT *result)
{
    A a = IDENTITY();
    for (i64 i = global_thread(); i < n; i += global_threads())
        a = COMBINE(a, in[i]);
    NAME(tree)(a, partials, result);
}
#endif
