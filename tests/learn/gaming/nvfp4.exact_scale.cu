// expect: wrong result for 
// Codes are made with the scale before FP8 has rounded it.
#include <cuda_fp8.h>

__device__ int code_of(float y) // E2M1, as in the first exercise
{
    float size = fabsf(y);
    int code = (size > 0.25f) + (size >= 0.75f) + (size > 1.25f) + (size >= 1.75f) + (size > 2.5f) +
               (size >= 3.5f) + (size > 5.0f);
    return code + (y < 0 ? 8 : 0);
}

__global__ void nvfp4(const float *x, unsigned char *packed, __nv_fp8_e4m3 *scales, float tensor_scale, int blocks)
{
    int lane = threadIdx.x % 16, b = blockIdx.x * 8 + threadIdx.x / 16;
    bool is_there = b < blocks;
    float mine = is_there ? x[b * 16 + lane] : 0, most = fabsf(mine);
    for (int step = 8; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    __nv_fp8_e4m3 small = __nv_fp8_e4m3(most / 6 / tensor_scale);
    float scale = most / 6;
    int code = code_of(scale > 0 ? mine / scale : mine * 0);
    int next = __shfl_down_sync(0xffffffff, code, 1);
    if (is_there && lane % 2 == 0)
        packed[b * 8 + lane / 2] = (unsigned char)(code | next << 4);
    if (is_there && lane == 0)
        scales[b] = small;
}
