// cluster_no_wait.cu: blocks of a cluster arrive at its barrier and do not wait for it: before they
// use each other's mbarriers and memory, or before they end.
// options: -arch=sm_90
#include <cstdint>

#define AT(x) "r"((unsigned)__cvta_generic_to_shared(x))

__device__ unsigned there(const void *here)
{
    unsigned rank, address;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : AT(here), "r"(rank ^ 1));
    return address;
}

__device__ void meet(bool waits)
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    if (waits)
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    else
        __nanosleep(100000); // so long that it does no harm here
}

#ifdef FIXED
#define WAITS true
#else
#define WAITS false
#endif

__global__ void __cluster_dims__(2, 1, 1) tell(int *out)
{
    __shared__ alignas(8) uint64_t full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::AT(&full) : "memory"); // expect: race
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    meet(WAITS);
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there(&full)) : "memory"); // expect: race
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : AT(&full) : "memory");
    out[blockIdx.x * 32 + threadIdx.x] = done;
    if (!WAITS)
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

__global__ void __cluster_dims__(2, 1, 1) read(int *out)
{
    __shared__ int value[32];
    value[threadIdx.x] = threadIdx.x;
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    int got;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(there(&value[31 - threadIdx.x])) : "memory"); // expect: cluster_exit
    out[blockIdx.x * 32 + threadIdx.x] = got;
    meet(WAITS);
}

int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    tell<<<2, 32>>>(out);
    read<<<2, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
