// right_mbarrier_made.cu: ways to make sure that an mbarrier exists before it is used: the block's barrier, a
// named one, __syncwarp, the same thread, a flag, cuda::barrier, another mbarrier, and in a cluster both a full
// barrier and a relaxed one behind fence.mbarrier_init. Nothing is wrong here.
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>

namespace cg = cooperative_groups;

#define AT(p) "r"((uint32_t)__cvta_generic_to_shared(p))

__device__ void make(uint64_t *barrier, uint32_t arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::AT(barrier), "r"(arrivals) : "memory");
}
__device__ void arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::AT(barrier) : "memory");
}
__device__ void wait(uint64_t *barrier, uint32_t parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : AT(barrier), "r"(parity)
                     : "memory");
}

__global__ void block(int *out) // 64 threads
{
    __shared__ uint64_t all, named, warp[2], own[64], after;
    __shared__ int flag;
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> of_cuda;
    int t = threadIdx.x;
    make(&own[t], 1); // by each thread its own
    arrive(&own[t]);
    wait(&own[t], 0);
    if (t % 32 == 0)
        make(&warp[t / 32], 32);
    __syncwarp();
    arrive(&warp[t / 32]);
    wait(&warp[t / 32], 0);
    if (t == 0) {
        make(&all, 64);
        init(&of_cuda, 64);
        flag = 0;
    }
    __syncthreads();
    arrive(&all);
    wait(&all, 0);
    of_cuda.arrive_and_wait();
    if (t == 0)
        make(&named, 64);
    asm volatile("bar.sync 3, 64;" ::: "memory");
    arrive(&named);
    wait(&named, 0);
    cuda::atomic_ref<int, cuda::thread_scope_block> is_made(flag);
    if (t == 0) {
        make(&after, 64);
        is_made.store(1, cuda::std::memory_order_release);
    }
    while (is_made.load(cuda::std::memory_order_acquire) == 0)
        ;
    arrive(&after);
    wait(&after, 0);
    out[t] = t;
}

__global__ void __cluster_dims__(2, 1, 1) cluster(int *out, bool relaxed)
{
    __shared__ uint64_t barrier;
    uint32_t other = cg::this_cluster().block_rank() ^ 1;
    if (threadIdx.x == 0) {
        make(&barrier, 32);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (relaxed)
        asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    else
        cg::this_cluster().sync();
    if (threadIdx.x < 32)
        asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; "
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::AT(&barrier),
                     "r"(other)
                     : "memory");
    wait(&barrier, 0);
    out[blockIdx.x * 64 + threadIdx.x] = 1;
    cg::this_cluster().sync();
}

int main()
{
    int *out;
    cudaMalloc(&out, 128 * sizeof(int));
    block<<<1, 64>>>(out);
    cluster<<<2, 64>>>(out, false);
    cluster<<<2, 64>>>(out, true);
    cudaError_t status = cudaDeviceSynchronize();
    cudaFree(out);
    return status != cudaSuccess;
}
