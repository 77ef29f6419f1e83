// wgmma_rows_behind.cu: a tile has 8 rows, the product takes 64: it reads what a copy may still be writing. That
// is no error if the sums of the other rows are dropped; here they are stored, after another product.
// options: -gencode arch=compute_90a,code=[sm_90a,compute_90a]
#include "wgmma_tile.h"

#define AT(x) "r"((unsigned)__cvta_generic_to_shared(x))

__global__ void product(const uint16_t *in, float *out)
{
    __shared__ alignas(128) uint16_t a[64 * 16], whole[64 * 16], b[8 * 16];
    __shared__ alignas(8) uint64_t full;
    b[threadIdx.x] = 0x3c00;
    a[threadIdx.x] = 0x3c00;
    for (int i = threadIdx.x; i < 64 * 16; i += 128)
        whole[i] = 0x3c00;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&full) : "memory");
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1792;" ::AT(&full) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1792, [%2];" ::AT(a + 128), "l"(in), AT(&full) : "memory"); // expect: race
    }
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    wgmma_fence();
    WGMMA(d, descriptor(a), descriptor(b)); // expect: race "bulk copy"
    WGMMA(d, descriptor(whole), descriptor(b));
    wgmma_commit();
    wgmma_wait<0>();
#ifdef FIXED
    if (threadIdx.x < 32) // of a warp's 16 rows, the first two sums of each thread are in the upper eight
        for (int i = 0; i < 2; i++)
            out[threadIdx.x * 4 + i] = d[i];
#else
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
#endif
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : AT(&full) : "memory");
}

int main()
{
    uint16_t *in;
    float *out;
    cudaMalloc(&in, 2048);
    cudaMalloc(&out, 512 * sizeof(float));
    cudaMemset(in, 0, 2048);
    cudaMemset(out, 0, 512 * sizeof(float));
    product<<<1, 128>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
