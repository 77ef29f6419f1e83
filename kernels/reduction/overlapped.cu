/*
 * overlapped.cu: vectorised's two passes, but the second is launched so that it overlaps the first:
 * its one block is on the GPU and waiting when the last partial sum is written, and the time from
 * launch to launch is saved. That is most of what a small reduction costs. The first pass prefers
 * many blocks with LOADS loads per thread to few with more, up to BLOCKS_PER_SM on each SM. Up to
 * ALONE KiB one block does it all, and there is no second pass.
 */
// arch: sm_90
#include "device.h"
#include "sums.h"

#define BLOCK 512 // tune: 256 512 1024
#define UNROLL 4 // tune: 2 4 8
#define BLOCKS_PER_SM 8 // tune: 2 4 8 16
#define LOADS 2 // tune: 1 2 4
#define LAST 128 // tune: 128 256 512 1024
#define ALONE 64 // tune: 16 32 64 128

extern "C" __global__ void __launch_bounds__(BLOCK) reduce(const float *in, long long n, float *out)
{
    cudaTriggerProgrammaticLaunchCompletion(); // the second pass may come to the GPU now
    long long thread = (long long)blockIdx.x * BLOCK + threadIdx.x;
    unsigned threads = gridDim.x * BLOCK;
    vectors all = split(in, n, thread);
    float sum = all.rest;
    for (long long i = thread; i < all.count; i += UNROLL * threads) {
        float4 v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            v[k] = i + k * threads < all.count ? load_stream(all.at + i + k * threads)
                                               : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            sum += v[k].x + v[k].y + (v[k].z + v[k].w);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

// By one block. They are few: 32 bits count them, and one turn does for most.
extern "C" __global__ void __launch_bounds__(LAST) again(const float *partials, int n, float *result)
{
    cudaGridDependencySynchronize(); // until the first pass has ended and all it wrote can be read
    float sum = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += UNROLL * LAST) {
        float v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            v[k] = i + k * LAST < n ? partials[i + k * LAST] : 0;
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            sum += v[k];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *result = sum;
}
