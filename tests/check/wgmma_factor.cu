// wgmma_factor.cu: registers of A are loaded anew while a product that reads them is under way.
// options: -gencode arch=compute_90a,code=[sm_90a,compute_90a]
#include "wgmma_tile.h"

__global__ void product(const uint32_t *in, float *out, int steps)
{
    __shared__ alignas(128) uint16_t b[8 * 16];
    b[threadIdx.x] = 0x3c00;
    proxy_fence();
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        uint4 a = ((const uint4 *)in)[step * 128 + threadIdx.x]; // expect: race
        wgmma_fence();
        WGMMA_RS(d, a, descriptor(b)); // expect: race
        wgmma_commit();
#ifdef FIXED
        wgmma_wait<0>();
#else
        wgmma_wait<1>();
#endif
    }
    wgmma_wait<0>();
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}

int main()
{
    uint32_t *in;
    float *out;
    cudaMalloc(&in, 3 * 2048);
    cudaMalloc(&out, 512 * sizeof(float));
    cudaMemset(in, 0, 3 * 2048);
    product<<<1, 128>>>(in, out, 3);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
