// bulk_read_early.cu: a bulk copy's destination is read before the mbarrier says that it has come.
#include <cstdint>

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__global__ void load(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ __align__(8) uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&barrier) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::AT(&barrier)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::AT(tile), "l"(in), AT(&barrier) : "memory"); // expect: race
    }
    __syncthreads();
#ifdef FIXED
    asm volatile("{\n.reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
                 "@!p bra again;\n}" ::AT(&barrier) : "memory");
#endif
    out[threadIdx.x] = tile[63 - threadIdx.x]; // expect: race "bulk copy"
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
