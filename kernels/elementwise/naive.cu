/*
 * naive.cu: one thread for each element. Coalesced, and therefore not bad; but a thread that lives
 * for 4 bytes of each array asks for too little at a time, and every 256 elements cost a block.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define EACH "naive.cu"
#include "each_operation.h"
#else

KERNEL __launch_bounds__(BLOCK) NAME(const f32 *x, const f32 *y, f32 *out, f32 scalar, i64 n)
{
    i64 i = global_thread();
    if (i < n)
        out[i] = APPLY(x[i], y[i], scalar);
}
#endif
