/*
 * grid_stride.cu: as many blocks as the GPU holds; each thread goes on by the size of the grid. The
 * grid no longer depends on n, and what a thread computes once (addresses, the scalar) is used
 * often. A warp still moves 128 bytes at a time.
 */
// arch: sm_75
#include "operations.h"

#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 2 4 8 16 32

template <class Op>
static __device__ void grid_stride(const float *x, const float *y, float *out, float scalar,
                                   long long n)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
#pragma unroll 1 // a store may change what the next load reads: nothing to gain
    for (; i < n; i += (long long)gridDim.x * BLOCK)
        out[i] = Op::of(x[i], y[i], scalar);
}

KERNELS(grid_stride, BLOCK)
