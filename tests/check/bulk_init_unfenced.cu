// bulk_init_unfenced.cu: an mbarrier is initialised for a bulk copy, without a fence that shows it to
// the copy's proxy: a remark.
#include <cstdint>

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__global__ void load(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ __align__(8) uint64_t full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&full) : "memory"); // expect: unfenced
#ifdef FIXED
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::AT(&full) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::AT(tile), "l"(in), AT(&full) : "memory"); // expect: unfenced "fence.mbarrier_init"
    }
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : AT(&full) : "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}

// Not accused: the thread that copies has a fence of its own, which comes after the initialisation.
__global__ void other_fences(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ __align__(8) uint64_t full;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&full) : "memory");
    __syncthreads();
    if (threadIdx.x == 32) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::AT(&full) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::AT(tile), "l"(in), AT(&full) : "memory");
    }
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : AT(&full) : "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 256);
    cudaMalloc(&out, 256);
    cudaMemset(in, 0, 256);
    load<<<1, 64>>>(in, out);
    other_fences<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
