/*
 * vectorised.cu: 16 bytes of each array at a time. A quarter of the instructions, and a warp asks
 * for four times as many bytes before it has to wait.
 */
// arch: sm_75
#include "operations.h"

#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 2 4 8 16 32

template <class Op>
static __device__ void vectorised(const float *x, const float *y, float *out, float scalar,
                                  long long n)
{
    parts p = split(x, y, out, n);
    do_ends<Op>(p, x, y, out, scalar, n);

    const float4 *xs = (const float4 *)(x + p.head), *ys = (const float4 *)(y + p.head);
    float4 *outs = (float4 *)(out + p.head);
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
#pragma unroll 1
    for (; i < p.vectors; i += (long long)gridDim.x * BLOCK)
        outs[i] = of_four<Op>(xs[i], ys[i], scalar);
}

KERNELS(vectorised, BLOCK)
