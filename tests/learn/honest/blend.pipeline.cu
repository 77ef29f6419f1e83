// blend: cuda::pipeline would be the same; here two stages ahead with four buffers, weights in a register.
#include <cuda_pipeline.h>

template <int AHEAD> __device__ void start(float *to, const float *strip, int f, int frames)
{
    if (f < frames)
        __pipeline_memcpy_async(to, strip + f * 256, 16);
    __pipeline_commit();
}
__global__ void blend(const float *x, const float *w, float *out, int frames)
{
    __shared__ __align__(16) float frame[4][256];
    const float *strip = x + (size_t)blockIdx.x * frames * 256 + 4 * threadIdx.x;
    int t = threadIdx.x;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    start<3>(&frame[0][4 * t], strip, 0, frames);
    start<3>(&frame[1][4 * t], strip, 1, frames);
    start<3>(&frame[2][4 * t], strip, 2, frames);
    for (int f = 0; f < frames; f++) {
        __pipeline_wait_prior(2);
        __syncthreads();
        start<3>(&frame[(f + 3) & 3][4 * t], strip, f + 3, frames);
        float weight = w[f];
        const float *now = frame[f & 3];
        s0 += weight * now[255 - t];
        s1 += weight * now[191 - t];
        s2 += weight * now[127 - t];
        s3 += weight * now[63 - t];
    }
    float *to = out + (size_t)blockIdx.x * 256 + t;
    to[0] = s0;
    to[64] = s1;
    to[128] = s2;
    to[192] = s3;
}
