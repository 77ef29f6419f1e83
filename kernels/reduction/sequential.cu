/*
 * sequential.cu: the tree with the working threads packed at the front: whole warps fall silent,
 * and neighbours touch neighbouring words, so that no bank is asked twice. Each block leaves one
 * partial result; the host launches passes until one is left.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512 1024
#define EACH "sequential.cu"
#include "each_operation.h"
#else

DEVICE void NAME(tree)(A mine, A *partials, OUT *result)
{
    __shared__ A partial[BLOCK];
    u32 thread = thread_x();
    partial[thread] = mine;
    sync_block();
    for (u32 distance = threads_x() / 2; distance > 0; distance /= 2) {
        if (thread < distance)
            partial[thread] = COMBINE(partial[thread], partial[thread + distance]);
        sync_block();
    }
    LEAVE(partial[0], partials, result);
}

#include "one_each.h"
#endif
