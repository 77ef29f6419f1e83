// expect: wrong result for 
// Both halves of V have the larger scale.
#include <cuda_fp8.h>

__device__ int code_of(float y) // E2M1, from yesterday
{
    float size = fabsf(y);
    int code = (size > 0.25f) + (size >= 0.75f) + (size > 1.25f) + (size >= 1.75f) + (size > 2.5f) +
               (size >= 3.5f) + (size > 5.0f);
    return code + (y < 0 ? 8 : 0);
}

__device__ float largest(float x, int step)
{
    x = fabsf(x);
    for (; step > 0; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, step));
    return x;
}

__global__ void store_kv(const float *k, const float *v, __nv_fp8_e4m3 *kq, float *ks, unsigned char *vq,
                         __nv_fp8_e4m3 *vs, int tokens)
{
    int lane = threadIdx.x % 32, t = blockIdx.x * 4 + threadIdx.x / 32;
    if (t >= tokens)
        return; // whole warps only
    float my_k = k[t * 32 + lane], my_v = v[t * 32 + lane];
    float k_scale = largest(my_k, 16) / 448;
    __nv_fp8_e4m3 v_scale = __nv_fp8_e4m3(largest(my_v, 16) / 6);
    kq[t * 32 + lane] = __nv_fp8_e4m3(k_scale > 0 ? my_k / k_scale : 0);
    int code = code_of((float)v_scale > 0 ? my_v / (float)v_scale : my_v * 0);
    int next = __shfl_down_sync(0xffffffff, code, 1);
    if (lane % 2 == 0)
        vq[t * 16 + lane / 2] = (unsigned char)(code | next << 4);
    if (lane % 16 == 0)
        vs[t * 2 + lane / 16] = v_scale;
    if (lane == 0)
        ks[t] = k_scale;
}
