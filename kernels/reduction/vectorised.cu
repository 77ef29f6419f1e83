/*
 * vectorised.cu: 16-byte loads, UNROLL of them in flight a thread, past the L1; two passes in a
 * fixed order, so that the same input gives the same bits. This one reaches the memory's limit.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 1024 // tune: 256 512 1024
#define UNROLL 4 // tune: 2 4 8
#define BLOCKS_PER_SM 4 // tune: 2 4 8 16 32 64
#define EACH "vectorised.cu"
#include "each_operation.h"
#else
#include "vectors.h"

KERNEL __launch_bounds__(BLOCK) NAME(reduce)(const T *in, i64 n, A *partials, OUT *result)
{
    LEAVE(REDUCE_BLOCK(NAME(of_elements)(in, n)), partials, result);
}

KERNEL __launch_bounds__(BLOCK) NAME(again)(const A *in, i64 n, A *partials, OUT *result)
{
    LEAVE(REDUCE_BLOCK(NAME(of_partials)(in, (u32)n)), partials, result);
}
#endif
