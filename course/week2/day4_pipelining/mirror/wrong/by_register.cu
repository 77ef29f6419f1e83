// Goes through a register: load, store, barrier.
#include <cuda_pipeline.h>

__global__ void mirror(const float *x, float *out, int n)
{
    __shared__ __align__(16) float tile[256];
    int t = threadIdx.x, first = blockIdx.x * 256;
    *(float4 *)&tile[4 * t] = *(const float4 *)(x + first + 4 * t);
    __syncthreads();
    for (int k = t; k < 256; k += 64)
        out[first + k] = tile[255 - k];
}
