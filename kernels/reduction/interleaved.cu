/*
 * interleaved.cu: a tree in shared memory in which every second thread works, then every fourth ..
 * Threads that work are spread over all warps, so that every warp goes on to the end half empty.
 * Each block leaves one partial result; the host launches passes until one is left.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512 1024
#define EACH "interleaved.cu"
#include "each_operation.h"
#else

DEVICE void NAME(tree)(A mine, A *partials, OUT *result)
{
    __shared__ A partial[BLOCK];
    u32 thread = thread_x();
    partial[thread] = mine;
    sync_block();
    for (u32 distance = 1; distance < threads_x(); distance *= 2) {
        if (thread % (2 * distance) == 0)
            partial[thread] = COMBINE(partial[thread], partial[thread + distance]);
        sync_block();
    }
    LEAVE(partial[0], partials, result);
}

#include "one_each.h"
#endif
