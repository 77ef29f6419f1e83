// wgmma_rows_refilled.cu: what lies behind a tile of 8 rows is written while the product, which takes 64, is under
// way. That is no error if the sums of the other rows are dropped; here they are stored.
// options: -gencode arch=compute_90a,code=[sm_90a,compute_90a]
#include "wgmma_tile.h"

__global__ void product(const uint16_t *in, float *out)
{
    __shared__ alignas(128) uint16_t a[64 * 16], b[8 * 16];
    float d[4] = {0, 0, 0, 0};
    for (int i = threadIdx.x; i < 64 * 16; i += 256)
        a[i] = 0x3c00;
    if (threadIdx.x < 128)
        b[threadIdx.x] = 0x3c00;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x < 128) {
        wgmma_fence();
        WGMMA(d, descriptor(a), descriptor(b)); // expect: race
        wgmma_commit();
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        for (int i = threadIdx.x; i < 64 * 16; i += 128)
            a[i] = in[i]; // expect: race "under way"
        return;
    }
    wgmma_wait<0>();
#ifdef FIXED
    if (threadIdx.x < 32) // of a warp's 16 rows, the first two sums of each thread are in the upper eight
        for (int i = 0; i < 2; i++)
            out[threadIdx.x * 4 + i] = d[i];
#else
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
#endif
}

int main()
{
    uint16_t *in;
    float *out;
    cudaMalloc(&in, 2048);
    cudaMalloc(&out, 512 * sizeof(float));
    cudaMemset(in, 0, 2048);
    cudaMemset(out, 0, 512 * sizeof(float));
    product<<<1, 256>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
