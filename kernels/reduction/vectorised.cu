/*
 * vectorised.cu: 16-byte loads that bypass the L1, UNROLL of them in flight per thread before the
 * first is used, also at the end, where fewer are left. Two passes in a fixed order, so that the same
 * input gives the same bits. This one reaches the memory's limit. The second pass is the same kernel
 * over the sums of the blocks.
 */
// arch: sm_75
#include "device.h"
#include "sums.h"

#define BLOCK 1024 // tune: 256 512 1024
#define UNROLL 4 // tune: 2 4 8
#define BLOCKS_PER_SM 4 // tune: 2 4 8 16 32 64

extern "C" __global__ void __launch_bounds__(BLOCK) reduce(const float *in, long long n, float *out)
{
    long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned threads = gridDim.x * blockDim.x;
    vectors all = split(in, n, thread);
    float sum = all.rest;
    long long i = thread;
    for (; i + (UNROLL - 1) * threads < all.count; i += UNROLL * threads) {
        float4 v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            v[k] = load_stream(all.at + i + k * threads);
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            sum += v[k].x + v[k].y + (v[k].z + v[k].w);
    }
    float4 rest[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL - 1; k++)
        if (i + k * threads < all.count)
            rest[k] = load_stream(all.at + i + k * threads);
#pragma unroll
    for (int k = 0; k < UNROLL - 1; k++)
        if (i + k * threads < all.count)
            sum += rest[k].x + rest[k].y + (rest[k].z + rest[k].w);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}
