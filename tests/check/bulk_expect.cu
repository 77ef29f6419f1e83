// bulk_expect.cu: an mbarrier is told to expect fewer bytes than the copy brings.
#include <cstdint>

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__global__ void load(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ __align__(8) uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&barrier) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#ifdef FIXED
        const int bytes = 256;
#else
        const int bytes = 64; // elements, not bytes
#endif
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::AT(&barrier), "r"(bytes) : "memory"); // expect: tx_count "bytes more"
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::AT(tile), "l"(in), AT(&barrier) : "memory");
    }
    __syncthreads();
#ifdef FIXED
    asm volatile("{\n.reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
                 "@!p bra again;\n}" ::AT(&barrier) : "memory");
    out[threadIdx.x] = tile[threadIdx.x];
#endif
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    load<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
