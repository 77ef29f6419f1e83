// wgmma_early_read.cu: sums of a warpgroup product are used before it was waited for.
// options: -gencode arch=compute_90a,code=[sm_90a,compute_90a]
#include "wgmma_tile.h"

__global__ void product(float *out)
{
    __shared__ alignas(128) uint16_t a[64 * 16], b[8 * 16];
    for (int i = threadIdx.x; i < 64 * 16; i += 128)
        a[i] = 0x3c00;
    b[threadIdx.x] = 0x3c00;
    proxy_fence();
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    wgmma_fence();
    WGMMA(d, descriptor(a), descriptor(b));
    wgmma_commit();
#ifdef FIXED
    wgmma_wait<0>();
#endif
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i] * 2; // expect: race
    wgmma_wait<0>();
}

int main()
{
    float *out;
    cudaMalloc(&out, 512 * sizeof(float));
    product<<<1, 128>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
