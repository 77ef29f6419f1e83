// cluster_deadlock.cu: one block waits for an arrival that never comes, the other for the cluster.
// options: -arch=sm_90
#include <cooperative_groups.h>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

__global__ void __cluster_dims__(2, 1, 1) handshake(int *out)
{
    __shared__ uint64_t ready;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&ready, 2);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    if (cluster.block_rank() == 1 && threadIdx.x == 0)
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                             cluster.map_shared_rank(&ready, 0));
#ifdef FIXED
    if (cluster.block_rank() == 1 && threadIdx.x == 1)
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                             cluster.map_shared_rank(&ready, 0));
#endif
    if (cluster.block_rank() == 0)
        while (!ptx::mbarrier_try_wait_parity(&ready, 0)) // expect: barrier "1 of 2 arrivals missing"
            continue;
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, 2 * 32 * sizeof(int));
    handshake<<<2, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
