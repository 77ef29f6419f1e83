// cluster_start.cu: a block uses the shared memory of another one, which may not have begun.
// options: -arch=sm_90
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) swap(int *out)
{
    __shared__ int value[32];
    cg::cluster_group cluster = cg::this_cluster();
#ifdef FIXED
    cluster.sync();
#endif
    int *there = cluster.map_shared_rank(value, cluster.block_rank() ^ 1);
    there[threadIdx.x] = threadIdx.x; // expect: cluster_start "may not have begun"
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = value[threadIdx.x];
}

// Not accused: one warp alone waits for the cluster, and the block waits for it; or the other block
// has said that it is there.
__global__ void __cluster_dims__(2, 1, 1) one_waits(int *out)
{
    __shared__ int value[64];
    cg::cluster_group cluster = cg::this_cluster();
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    if (threadIdx.x < 32)
        asm volatile("barrier.cluster.wait;" ::: "memory");
    __syncthreads();
    cluster.map_shared_rank(value, cluster.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
    if (threadIdx.x >= 32)
        asm volatile("barrier.cluster.wait;" ::: "memory");
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = value[threadIdx.x];
}

__global__ void __cluster_dims__(2, 1, 1) by_flag(int *out, int *flag)
{
    __shared__ int value[32];
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 1) {
        value[threadIdx.x] = 7;
        __syncwarp();
        if (threadIdx.x == 0)
            asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        int set = 0;
        while (!set)
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(set) : "l"(flag) : "memory");
        out[threadIdx.x] = cluster.map_shared_rank(value, 1)[threadIdx.x];
    }
    cluster.sync();
}

int main()
{
    int *out;
    cudaMalloc(&out, 257 * sizeof(int));
    cudaMemset(out, 0, 257 * sizeof(int));
    swap<<<4, 32>>>(out);
    one_waits<<<4, 64>>>(out);
    by_flag<<<2, 32>>>(out, out + 256);
    cudaDeviceSynchronize();
    cudaFree(out);
}
