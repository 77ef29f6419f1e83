// wgmma_overwrite.cu: a tile in shared memory is filled again while a product still reads it.
// options: -gencode arch=compute_90a,code=[sm_90a,compute_90a]
#include "wgmma_tile.h"

__global__ void product(float *out, int steps)
{
    __shared__ alignas(128) uint16_t a[64 * 16], b[8 * 16];
    float d[4] = {0, 0, 0, 0};
    for (int step = 0; step < steps; step++) {
        for (int i = threadIdx.x; i < 64 * 16; i += 128)
            a[i] = 0x3c00; // expect: race
        b[threadIdx.x] = 0x3c00; // expect: race
        proxy_fence();
        __syncthreads();
        wgmma_fence();
        WGMMA(d, descriptor(a), descriptor(b)); // expect: race
        wgmma_commit();
#ifdef FIXED
        wgmma_wait<0>();
#else
        wgmma_wait<1>();
#endif
        __syncthreads();
    }
    wgmma_wait<0>();
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}

int main()
{
    float *out;
    cudaMalloc(&out, 512 * sizeof(float));
    product<<<1, 128>>>(out, 3);
    cudaDeviceSynchronize();
    cudaFree(out);
}
