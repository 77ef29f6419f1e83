// expect: wrong result for 
// NaN becomes 0.
#include <cuda_pipeline.h>

__global__ void mirror(const float *x, float *out, int n)
{
    __shared__ __align__(16) float tile[256];
    int t = threadIdx.x, first = blockIdx.x * 256;
    __pipeline_memcpy_async(&tile[4 * t], x + first + 4 * t, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = t; k < 256; k += 64)
        out[first + k] = fmaxf(tile[255 - k], -3e38f);
}
