// store_kv: puts tokens into a compressed cache. K: E4M3 with a scale for each token, largest |k| / 448. V: E2M1 in blocks of 16
// with an E4M3 scale, largest |v| / 6; two codes to a byte, the even one low. Rows have 32 numbers; a warp has one token.
//
// K is stored without a scale here, and all of V with the scale 1.
#include <cuda_fp8.h>

__device__ int code_of(float y) // E2M1, from yesterday
{
    float size = fabsf(y);
    int code = (size > 0.25f) + (size >= 0.75f) + (size > 1.25f) + (size >= 1.75f) + (size > 2.5f) +
               (size >= 3.5f) + (size > 5.0f);
    return code + (y < 0 ? 8 : 0);
}

__global__ void store_kv(const float *k, const float *v, __nv_fp8_e4m3 *kq, float *ks, unsigned char *vq,
                         __nv_fp8_e4m3 *vs, int tokens)
{
    int lane = threadIdx.x % 32, t = blockIdx.x * 4 + threadIdx.x / 32;
    if (t >= tokens)
        return; // whole warps only
    float my_k = k[t * 32 + lane], my_v = v[t * 32 + lane];
    // TODO: K: the largest of 32 lanes, / 448. V: the largest of each 16 lanes, / 6, rounded to E4M3.
    float k_scale = 1;
    __nv_fp8_e4m3 v_scale = __nv_fp8_e4m3(1.0f);
    kq[t * 32 + lane] = __nv_fp8_e4m3(my_k / k_scale);
    int code = code_of(my_v / (float)v_scale), next = __shfl_down_sync(0xffffffff, code, 1);
    if (lane % 2 == 0)
        vq[t * 16 + lane / 2] = (unsigned char)(code | next << 4);
    if (lane % 16 == 0)
        vs[t * 2 + lane / 16] = v_scale;
    if (lane == 0)
        ks[t] = k_scale;
}
