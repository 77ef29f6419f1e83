// fused: out = softmax(scale * q k^T) v from the compressed cache of day 5: k[j] = kq[j] * ks[j] (E4M3 and a scale for each row), v[j] = E2M1 codes, two
// to a byte, the even one low, times vs[j][c / 16]. Rows have 32 numbers. A block of 4 warps has one query.
//
// One pass finds the largest score, a second one does the rest: K is read and unpacked twice, by one warp of four.
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
    int lane = threadIdx.x % 32;
    float mine = q[blockIdx.x * 32 + lane] * scale, m = -INFINITY, l = 0, o = 0;
    // TODO: the online softmax needs one pass; and there are four warps.
    if (threadIdx.x >= 32)
        return;
    for (int j = 0; j < keys; j++)
        m = fmaxf(m, warp_sum(mine * (float)kq[j * 32 + lane]) * ks[j]);
    for (int j = 0; j < keys; j++) {
        float w = expf(warp_sum(mine * (float)kq[j * 32 + lane]) * ks[j] - m);
        int byte = vq[j * 16 + lane / 2];
        l += w;
        o += w * value_of(lane % 2 ? byte >> 4 : byte & 15) * (float)vs[j * 2 + lane / 16];
    }
    out[blockIdx.x * 32 + lane] = o / l;
}
