// mbarrier_not_made.cu: threads use an mbarrier, and nothing makes them wait until thread 0 has made it;
// then all threads make one.
#include <cstdint>

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__global__ void load(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ __align__(8) uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::AT(&barrier) : "memory"); // expect: race
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::AT(&barrier)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 256, [%2];" ::AT(tile), "l"(in), AT(&barrier) : "memory");
    }
#ifdef FIXED
    __syncthreads();
#endif
    uint32_t done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : AT(&barrier) : "memory"); // expect: race "until it exists"
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void made_by_all(int *out)
{
    __shared__ __align__(8) uint64_t barrier;
#ifdef FIXED
    if (threadIdx.x == 0)
#endif
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::AT(&barrier) : "memory"); // expect: race "several threads"
    __syncthreads();
    uint64_t state;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : AT(&barrier) : "memory");
    out[threadIdx.x] = 1;
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    load<<<1, 64>>>(in, out);
    made_by_all<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
