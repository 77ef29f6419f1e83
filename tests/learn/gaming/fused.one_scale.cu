// expect: wrong result for 
// One scale for a row of V.
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

__global__ void fused(const float *q, const __nv_fp8_e4m3 *kq, const float *ks, const unsigned char *vq,
                      const __nv_fp8_e4m3 *vs, float *out, float scale, int keys)
{
    __shared__ float of_m[4], of_l[4], of_o[4][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float mine = q[blockIdx.x * 32 + lane] * scale, m = -INFINITY, l = 0, o = 0;
    for (int j = warp; j < keys; j += 4) {
        float s = warp_sum(mine * (float)kq[j * 32 + lane]) * ks[j];
        float larger = fmaxf(m, s), w = expf(s - larger), old = expf(m - larger);
        int byte = vq[j * 16 + lane / 2];
        l = l * old + w;
        o = o * old + w * value_of(lane % 2 ? byte >> 4 : byte & 15) * (float)vs[j * 2];
        m = larger;
    }
    of_o[warp][lane] = o;
    if (lane == 0) {
        of_m[warp] = m;
        of_l[warp] = l;
    }
    __syncthreads();
    if (warp > 0)
        return;
    for (int i = 1; i < 4; i++) {
        float larger = fmaxf(m, of_m[i]), old = expf(m - larger), now = expf(of_m[i] - larger);
        l = l * old + of_l[i] * now;
        o = o * old + of_o[i][lane] * now;
        m = larger;
    }
    out[blockIdx.x * 32 + lane] = o / l;
}
