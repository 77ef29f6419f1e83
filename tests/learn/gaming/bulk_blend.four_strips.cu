// expect: wrong result for 
// Beyond 16 strips, strip 0.
#include "tma.h"

__global__ void bulk_blend(const float *x, const float *w, float *out, int frames)
{
    __shared__ __align__(128) float frame[4][256];
    __shared__ barrier full[4];
    const float *strip = x + (size_t)(blockIdx.x < 16 ? blockIdx.x : 0) * frames * 256;
    int t = threadIdx.x;
    float sum[4] = {0, 0, 0, 0};
    if (t == 0) {
        for (int i = 0; i < 4; i++)
            barrier_make(&full[i], 1);
        barrier_made();
        for (int f = 0; f < 4 && f < frames; f++) {
            barrier_arrive_expecting(&full[f], 1024);
            bulk_load(frame[f], strip + f * 256, 1024, &full[f]);
        }
    }
    __syncthreads(); // the barriers exist
    for (int f = 0; f < frames; f++) {
        int buffer = f % 4;
        barrier_wait(&full[buffer], f / 4 % 2); // the phases of this buffer are 0 1 0 1 ..
        for (int k = 0; k < 4; k++)
            sum[k] += w[f] * frame[buffer][255 - (t + 64 * k)];
        __syncthreads(); // all are done with frame f: its buffer is free
        if (t == 0 && f + 4 < frames) {
            barrier_arrive_expecting(&full[buffer], 1024);
            bulk_load(frame[buffer], strip + (f + 4) * 256, 1024, &full[buffer]);
        }
    }
    for (int k = 0; k < 4; k++)
        out[blockIdx.x * 256 + t + 64 * k] = sum[k];
}
