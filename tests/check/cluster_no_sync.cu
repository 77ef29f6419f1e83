// cluster_no_sync.cu: a block reads its neighbour's shared memory after its own barrier only
// options: -arch=sm_90
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void go(int *a, int *b)
{
    __shared__ int s[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    s[t] = a[t] + 1;
#ifdef FIXED
    cluster.sync();
#else
    cluster.barrier_arrive();
    cluster.barrier_wait();
    __syncthreads();
    s[t] = a[t] + 2; // expect: race
#endif
    b[blockIdx.x * 64 + t] = cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[t]; // expect: race
    cluster.sync();
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
