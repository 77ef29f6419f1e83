// expect: wrong result for 
// No epsilon.
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
/* Divided by the root of the mean of its squares. */
__device__ float normed(float element)
{
    return element / sqrtf(warp_sum(element * element) / 32);
}

__global__ void layer(const float *x, const float *wq, const float *wo, const float *w1, const float *w2,
                      const __nv_fp8_e4m3 *kq, const float *ks, const unsigned char *vq, const __nv_fp8_e4m3 *vs,
                      float *out, float scale, int keys)
{
    int lane = threadIdx.x;
    float mine = x[blockIdx.x * 32 + lane];
    float h = normed(mine);
    float q = times(h, wq) * scale, m = -INFINITY, l = 0, o = 0;
    for (int j = 0; j < keys; j++) {
        float s = warp_sum(q * (float)kq[j * 32 + lane]) * ks[j];
        float larger = fmaxf(m, s), w = expf(s - larger), old = expf(m - larger);
        int byte = vq[j * 16 + lane / 2];
        l = l * old + w;
        o = o * old + w * value_of(lane % 2 ? byte >> 4 : byte & 15) * (float)vs[j * 2 + lane / 16];
        m = larger;
    }
    float y = mine + times(o / l, wo);
    float up = times(normed(y), w1);
    out[blockIdx.x * 32 + lane] = y + times(up / (1 + expf(-up)), w2);
}
