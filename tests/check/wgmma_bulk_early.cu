// wgmma_bulk_early.cu: a bulk copy brings a tile, and the product does not wait for its mbarrier.
// options: -gencode arch=compute_90a,code=[sm_90a,compute_90a]
#include "wgmma_tile.h"

#define AT(x) "r"((unsigned)__cvta_generic_to_shared(x))

__global__ void product(const uint16_t *in, float *out)
{
    __shared__ alignas(128) uint16_t a[64 * 16], b[8 * 16];
    __shared__ alignas(8) uint64_t full;
    b[threadIdx.x] = 0x3c00;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&full) : "memory");
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::AT(&full) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" ::AT(a), "l"(in), AT(&full) : "memory"); // expect: race
    }
    __syncthreads();
#ifdef FIXED
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : AT(&full) : "memory");
#endif
    float d[4] = {0, 0, 0, 0};
    wgmma_fence();
    WGMMA(d, descriptor(a), descriptor(b)); // expect: race "bulk copy"
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}

int main()
{
    uint16_t *in;
    float *out;
    cudaMalloc(&in, 64 * 16 * sizeof(uint16_t));
    cudaMalloc(&out, 512 * sizeof(float));
    cudaMemset(in, 0, 64 * 16 * sizeof(uint16_t));
    product<<<1, 128>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
