/*
 * overlapped.cu: vectorised's two passes, but the second is launched so that it overlaps the first:
 * its one block is on the GPU and waiting when the last partial result is written, and the time
 * from launch to launch is saved. That is most of what a small reduction costs. The first pass has
 * rather many blocks with LOADS loads a thread than few with more, until there are BLOCKS_PER_SM on
 * each SM. Up to ALONE KiB one block does it all, and there is no second pass.
 */
// arch: sm_90
#ifndef EACH
#include "device.h"
#define BLOCK 512 // tune: 256 512 1024
#define UNROLL 4 // tune: 2 4 8
#define BLOCKS_PER_SM 8 // tune: 2 4 8 16
#define LOADS 2 // tune: 1 2 4
#define LAST 128 // tune: 128 256 512 1024
#define ALONE 64 // tune: 16 32 64 128
#define EACH "overlapped.cu"
#include "each_operation.h"
#else
#include "vectors.h"

KERNEL __launch_bounds__(BLOCK) NAME(reduce)(const T *in, i64 n, A *partials, OUT *result)
{
    let_next_begin();
    LEAVE(REDUCE_BLOCK(NAME(of_elements)(in, n)), partials, result);
}

/* By one block of LAST threads. */
KERNEL __launch_bounds__(LAST) NAME(again)(const A *in, i64 n, OUT *result)
{
    wait_for_previous();
    A a = REDUCE_BLOCK(NAME(of_partials)(in, (u32)n));
    if (thread_x() == 0)
        *result = FINISH(a);
}
#endif
