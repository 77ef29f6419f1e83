#include <cuda_fp8.h>
__global__ void to_fp8(const float *x, __nv_fp8_e4m3 *y, float scale, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    float4 v = *reinterpret_cast<const float4 *>(x + i);
    unsigned char b[4] = {__nv_fp8_e4m3(v.x * scale).__x, __nv_fp8_e4m3(v.y * scale).__x,
                          __nv_fp8_e4m3(v.z * scale).__x, __nv_fp8_e4m3(v.w * scale).__x};
    *reinterpret_cast<unsigned *>(y + i) = b[0] | b[1] << 8 | b[2] << 16 | (unsigned)b[3] << 24;
}
