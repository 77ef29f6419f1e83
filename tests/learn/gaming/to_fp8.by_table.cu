// expect: wrong result for n=[0-9]+ scale=[0-9.]+: y
#include <cuda_fp8.h>
__global__ void to_fp8(const float *x, __nv_fp8_e4m3 *y, float scale, int n)
{
    __shared__ unsigned char table[64];
    if (threadIdx.x < 64)
        table[threadIdx.x] = __nv_fp8_e4m3(scale * ((int)threadIdx.x - 32) / 4).__x;
    __syncthreads();
    int i = 4 * (blockIdx.x * 256 + threadIdx.x);
    if (i < n) {
        float4 f = *(const float4 *)(x + i);
        unsigned b = table[(int)(4 * f.x) + 32 & 63] | table[(int)(4 * f.y) + 32 & 63] << 8 |
                     table[(int)(4 * f.z) + 32 & 63] << 16 |
                     (unsigned)table[(int)(4 * f.w) + 32 & 63] << 24;
        *(unsigned *)(y + i) = b;
    }
}
