// right_cluster.cu: blocks of a cluster hand each other data in every ordered way: the cluster's
// barrier (whole, and split), an mbarrier that a remote arrival ends, st.async, and a flag with
// release and acquire of cluster scope. Nothing is to be found.
// options: -arch=sm_90
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

__device__ void wait(uint64_t *barrier)
{
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, 0))
        continue;
}

__global__ void __cluster_dims__(2, 1, 1) talk(int *out)
{
    __shared__ int value[32], pushed[32], stored[32], flagged;
    __shared__ uint64_t ready, bytes, done;
    __shared__ unsigned flag;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), other = rank ^ 1, lane = threadIdx.x;
    if (lane == 0) {
        flag = 0;
        ptx::mbarrier_init(&ready, 32);
        ptx::mbarrier_init(&bytes, 1);
        ptx::mbarrier_init(&done, 32);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bytes,
                                       128);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    value[lane] = lane;
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(std::move(token));
    int sum = cluster.map_shared_rank(value, other)[31 - lane];

    cluster.map_shared_rank(pushed, other)[lane] = sum;
    ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                         cluster.map_shared_rank(&ready, other));
    wait(&ready);
    sum += pushed[31 - lane];

    ptx::st_async(cluster.map_shared_rank(&stored[lane], other), sum,
                  cluster.map_shared_rank(&bytes, other));
    wait(&bytes);
    sum += stored[31 - lane];

    if (lane == 0) {
        *cluster.map_shared_rank(&flagged, other) = sum;
        cuda::atomic_ref<unsigned, cuda::thread_scope_system> there(
            *cluster.map_shared_rank(&flag, other));
        there.store(1, cuda::memory_order_release);
        cuda::atomic_ref<unsigned, cuda::thread_scope_system> here(flag);
        while (!here.load(cuda::memory_order_acquire))
            continue;
        sum += flagged;
    }
    out[blockIdx.x * 32 + lane] = sum;
    /* A block may end when the other has said that it is done, without the cluster's barrier. */
    ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                         cluster.map_shared_rank(&done, other));
    wait(&done);
}

/* As a pipeline's consumers release its producers: a remote arrival is all that the warp does, and one
 * thread of each block waits for those of both. */
__global__ void __cluster_dims__(2, 1, 1) release(int *out)
{
    __shared__ uint64_t empty;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&empty, 2);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    unsigned lane = threadIdx.x % 32;
    if (threadIdx.x >= 32) {
        if (lane < 2)
            ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                                 cluster.map_shared_rank(&empty, lane));
    } else if (lane == 0) {
        wait(&empty);
        out[blockIdx.x] = 1;
    }
}

int main()
{
    int *out;
    cudaMalloc(&out, 4 * 32 * sizeof(int));
    talk<<<4, 32>>>(out);
    release<<<4, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
