// blend: out[i] = sum of w[f] * frame f's element 255 - i: frames are mirrored, weighted and added up.
//
// A block has 64 threads and one strip of frames, 256 floats each. Every thread makes 4 elements of the
// result. Here a step is: load a frame, wait, use it, wait. While the frame is on its way nobody works, and
// while they work nothing is on its way.
#include <cuda_pipeline.h>

__global__ void blend(const float *x, const float *w, float *out, int frames)
{
    __shared__ float frame[256];
    const float *strip = x + (size_t)blockIdx.x * frames * 256;
    int t = threadIdx.x;
    float sum[4] = {0, 0, 0, 0};
    // TODO: four buffers. Before using frame f, start the copy of frame f + 3 with __pipeline_memcpy_async.
    for (int f = 0; f < frames; f++) {
        for (int k = t; k < 256; k += 64)
            frame[k] = strip[f * 256 + k];
        __syncthreads();
        for (int k = 0; k < 4; k++)
            sum[k] += w[f] * frame[255 - (t + 64 * k)];
        __syncthreads();
    }
    for (int k = 0; k < 4; k++)
        out[blockIdx.x * 256 + t + 64 * k] = sum[k];
}
