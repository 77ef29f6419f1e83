// cluster_early_exit.cu: a block adds to its neighbour's counter, and nobody waits at the end
// options: -arch=sm_90
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void go(int *a, int *b)
{
    __shared__ int s;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        s = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&s, cluster.block_rank() ^ 1), a[threadIdx.x] + 1); // expect: cluster_exit
#ifdef FIXED
    cluster.sync();
#else
    __syncthreads();
#endif
    if (threadIdx.x == 0)
        b[blockIdx.x] = s; // expect-one: race
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {2, 1, 1};
    config.gridDim = 2;
    config.blockDim = 64;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, go, a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
