// layer: one step of a decoder's attention layer with a compressed cache, for a batch of vectors x of 32 numbers:
//   h = x / sqrt(mean of x^2 + 1e-5)        q = h wq        o = attention of q over the cache        out = x + o wo
// The cache is that of day 5; all vectors of the batch use the same one. A block is one warp and has one vector; lane c has its element c.
//
// The first two steps are there. Everything after them is missing.
#include <cuda_fp8.h>

__device__ float value_of(int code) // E2M1
{
    int size = code & 7;
    float value = size < 4 ? size * 0.5f : size < 7 ? size - 2 : 6;
    return code & 8 ? -value : value;
}
__device__ float warp_sum(float x)
{
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffff, x, step);
    return x;
}
/* The vector whose element c is in lane c, times a matrix of 32 x 32: element `lane` of the result. */
__device__ float times(float element, const float *w)
{
    float sum = 0;
    for (int p = 0; p < 32; p++)
        sum += __shfl_sync(0xffffffff, element, p) * w[p * 32 + threadIdx.x];
    return sum;
}

__global__ void layer(const float *x, const float *wq, const float *wo, const __nv_fp8_e4m3 *kq, const float *ks,
                      const unsigned char *vq, const __nv_fp8_e4m3 *vs, float *out, float scale, int keys)
{
    int lane = threadIdx.x;
    float mine = x[blockIdx.x * 32 + lane];
    float h = mine / sqrtf(warp_sum(mine * mine) / 32 + 0.00001f);
    float q = times(h, wq) * scale;
    // TODO: your fused attention over the cache, then times(o, wo), then the residual.
    out[blockIdx.x * 32 + lane] = q;
}
