// wgmma_no_fence.cu: registers of a product change between wgmma.fence and the product: the sums are
// scaled in one kernel, the factor is loaded in the next. The last has no fence at all.
// options: -gencode arch=compute_90a,code=[sm_90a,compute_90a]
#include "wgmma_tile.h"

__device__ inline void fence_if_fixed()
{
#ifdef FIXED
    wgmma_fence();
#endif
}

__device__ inline void fill(uint16_t *tile, int count)
{
    for (int i = threadIdx.x; i < count; i += 128)
        tile[i] = 0x3c00;
    proxy_fence();
    __syncthreads();
}

__global__ void scaled(float *out, int steps, float factor)
{
    __shared__ alignas(128) uint16_t a[64 * 16], b[8 * 16];
    fill(a, 64 * 16);
    fill(b, 8 * 16);
    float d[4] = {0, 0, 0, 0};
    wgmma_fence();
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < 4; i++)
            d[i] *= factor; // expect: race
        fence_if_fixed();
        WGMMA(d, descriptor(a), descriptor(b)); // expect: race
        wgmma_commit();
        wgmma_wait<0>();
    }
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}

__global__ void loaded(const uint4 *in, float *out, int steps)
{
    __shared__ alignas(128) uint16_t b[8 * 16];
    fill(b, 8 * 16);
    float d[4] = {0, 0, 0, 0};
    wgmma_fence();
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        uint4 a = in[step * 128 + threadIdx.x]; // expect: race
        fence_if_fixed();
        WGMMA_RS(d, a, descriptor(b)); // expect: race
        wgmma_commit();
        wgmma_wait<0>();
    }
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}

__global__ void first(float *out)
{
    __shared__ alignas(128) uint16_t a[64 * 16], b[8 * 16];
    fill(a, 64 * 16);
    fill(b, 8 * 16);
    float d[4] = {0, 0, 0, 0};
    fence_if_fixed();
    WGMMA(d, descriptor(a), descriptor(b)); // expect: race
    WGMMA(d, descriptor(a), descriptor(b)); // right: products may share their sums
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}

int main()
{
    uint4 *in;
    float *out;
    cudaMalloc(&in, 3 * 2048);
    cudaMalloc(&out, 512 * sizeof(float));
    cudaMemset(in, 0, 3 * 2048);
    scaled<<<1, 128>>>(out, 3, 0.5f);
    loaded<<<1, 128>>>(in, out, 3);
    first<<<1, 128>>>(out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
