// expect: wrong result for 
// One scale for 16 keys.
#include <cuda_fp8.h>

__global__ void scores_fp8(const float *q, const __nv_fp8_e4m3 *kq, const float *ks, float *s, int keys)
{
    int part = threadIdx.x % 8, j = blockIdx.x * 16 + threadIdx.x / 8;
    unsigned four = j < keys ? *(const unsigned *)(kq + j * 32 + part * 4) : 0;
    float4 mine = *(const float4 *)(q + part * 4);
    __nv_fp8_e4m3 code[4];
    for (int i = 0; i < 4; i++)
        code[i].__x = (unsigned char)(four >> 8 * i);
    float sum = mine.x * (float)code[0] + mine.y * (float)code[1] + mine.z * (float)code[2] + mine.w * (float)code[3];
    for (int step = 4; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (part == 0 && j < keys)
        s[j] = ks[j / 16 * 16] * sum;
}
