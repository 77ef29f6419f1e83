// wgmma_two_groups.cu: two warpgroups multiply by the same tile, and one of them overwrites it after
// its own products: nothing says that the other group is done.
// options: -gencode arch=compute_90a,code=[sm_90a,compute_90a]
#include "wgmma_tile.h"

__global__ void product(int writer, float *out)
{
    __shared__ alignas(128) uint16_t a[2][64 * 16], b[8 * 16];
    int group = threadIdx.x / 128, thread = threadIdx.x % 128;
    for (int i = thread; i < 64 * 16; i += 128)
        a[group][i] = 0x3c00;
    if (group == 0)
        b[thread] = 0x3c00;
    proxy_fence();
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    wgmma_fence();
    WGMMA(d, descriptor(a[group]), descriptor(b)); // expect: race
    wgmma_commit();
    wgmma_wait<0>();
#ifdef FIXED
    __syncthreads();
#endif
    if (group == writer)
        b[thread] = 0; // expect: race
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}

int main()
{
    float *out;
    cudaMalloc(&out, 1024 * sizeof(float));
    product<<<1, 256>>>(0, out);
    product<<<1, 256>>>(1, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
