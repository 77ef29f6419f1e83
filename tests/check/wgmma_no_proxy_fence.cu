// wgmma_no_proxy_fence.cu: ordinary stores fill a tile, and no proxy fence makes them known to the
// tensor cores.
// options: -gencode arch=compute_90a,code=[sm_90a,compute_90a]
#include "wgmma_tile.h"

__global__ void product(float *out)
{
    __shared__ alignas(128) uint16_t a[64 * 16], b[8 * 16];
    for (int i = threadIdx.x; i < 64 * 16; i += 128)
        a[i] = 0x3c00; // expect: race
    b[threadIdx.x] = 0x3c00; // expect: race
#ifdef FIXED
    proxy_fence();
#endif
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    wgmma_fence();
    WGMMA(d, descriptor(a), descriptor(b)); // expect: race
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}

int main()
{
    float *out;
    cudaMalloc(&out, 512 * sizeof(float));
    product<<<1, 128>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
