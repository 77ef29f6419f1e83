// bulk_blend: out[i] = sum of w[f] * frame f's element 255 - i, as yesterday.
//
// This is yesterday's solution: 64 threads copy 16 bytes each, commit and wait. A bulk copy does the whole
// frame at once, and one thread starts it. tma.h has the calls.
#include "tma.h"
#include <cuda_pipeline.h>

__global__ void bulk_blend(const float *x, const float *w, float *out, int frames)
{
    __shared__ __align__(16) float frame[4][256];
    const float *strip = x + (size_t)blockIdx.x * frames * 256;
    int t = threadIdx.x;
    float sum[4] = {0, 0, 0, 0};
    // TODO: a barrier for each buffer, made by thread 0. It announces 1024 bytes and starts bulk_load; all
    // threads wait for the barrier's phase.
    for (int f = 0; f < 3; f++) {
        if (f < frames)
            __pipeline_memcpy_async(&frame[f][4 * t], strip + f * 256 + 4 * t, 16);
        __pipeline_commit();
    }
    for (int f = 0; f < frames; f++) {
        __pipeline_wait_prior(2);
        __syncthreads();
        if (f + 3 < frames)
            __pipeline_memcpy_async(&frame[(f + 3) % 4][4 * t], strip + (f + 3) * 256 + 4 * t, 16);
        __pipeline_commit();
        for (int k = 0; k < 4; k++)
            sum[k] += w[f] * frame[f % 4][255 - (t + 64 * k)];
    }
    for (int k = 0; k < 4; k++)
        out[blockIdx.x * 256 + t + 64 * k] = sum[k];
}
