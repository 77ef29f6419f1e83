/*
 * block_atomics.cu: one launch: each block adds up its share by shuffles (block_sum is
 * warp_shuffle's) and adds the outcome to the result with one atomic. No workspace and no second
 * pass, but the order of the additions, and so the last bits, depend on which block finishes first.
 */
// arch: sm_75
#include "sums.h"

#define BLOCK 512 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 4 // tune: 2 4 8

extern "C" __global__ void start(float *result)
{
    *result = 0;
}

extern "C" __global__ void reduce(const float *in, long long n, float *result)
{
    float sum = 0;
#pragma unroll 1 // one load in flight: vectorised.cu shows what several are worth
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        sum += in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        atomicAdd(result, sum);
}
