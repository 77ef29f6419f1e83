/*
 * grid_stride.cu: as many blocks as the GPU holds, each thread going on by the size of the grid.
 * The grid no longer depends on n, and what a thread computes once (addresses, the scalar) is used
 * often. A warp still moves 128 bytes at a time.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 2 4 8 16 32
#define EACH "grid_stride.cu"
#include "each_operation.h"
#else

KERNEL __launch_bounds__(BLOCK) NAME(const f32 *x, const f32 *y, f32 *out, f32 scalar, i64 n)
{
    for (i64 i = global_thread(); i < n; i += global_threads())
        out[i] = APPLY(x[i], y[i], scalar);
}
#endif
