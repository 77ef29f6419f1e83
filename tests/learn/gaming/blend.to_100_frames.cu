// expect: wrong result for 
// The first 100 frames.
#include <cuda_pipeline.h>

__global__ void blend(const float *x, const float *w, float *out, int frames)
{
    __shared__ __align__(16) float frame[4][256];
    const float *strip = x + (size_t)blockIdx.x * frames * 256;
    int t = threadIdx.x;
    frames = min(frames, 100);
    float sum[4] = {0, 0, 0, 0};
    for (int f = 0; f < 3; f++) {
        if (f < frames)
            __pipeline_memcpy_async(&frame[f][4 * t], strip + f * 256 + 4 * t, 16);
        __pipeline_commit();
    }
    for (int f = 0; f < frames; f++) {
        __pipeline_wait_prior(2); // frame f is here, as far as this thread copied it
        __syncthreads();          // and as far as all did; and nobody uses frame f - 1 any more
        if (f + 3 < frames)
            __pipeline_memcpy_async(&frame[(f + 3) % 4][4 * t], strip + (f + 3) * 256 + 4 * t, 16);
        __pipeline_commit(); // also where there is nothing to copy, so that the count stays right
        for (int k = 0; k < 4; k++)
            sum[k] += w[f] * frame[f % 4][255 - (t + 64 * k)];
    }
    for (int k = 0; k < 4; k++)
        out[blockIdx.x * 256 + t + 64 * k] = sum[k];
}
