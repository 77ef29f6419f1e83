// bulk_overwritten.cu: a bulk copy writes a buffer again that other threads may still read.
#include <cstdint>

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__global__ void load(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ __align__(8) uint64_t barriers[3];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 3; i++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&barriers[i]) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::AT(&barriers[i])
                         : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::AT(tile), "l"(in + 64 * i), AT(&barriers[i]) : "memory"); // expect: race
        }
        asm volatile("{\n.reg .pred p;\n"
                     "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                     "@!p bra again;\n}" ::AT(&barriers[i]), "r"(0) : "memory");
        out[64 * i + threadIdx.x] = tile[63 - threadIdx.x]; // expect: race
#ifdef FIXED
        __syncthreads();
#endif
    }
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 192 * sizeof(int));
    cudaMalloc(&out, 192 * sizeof(int));
    cudaMemset(in, 0, 192 * sizeof(int));
    load<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
