// cluster_outside.cu: an index past the end of the neighbour's shared array
// options: -arch=sm_90
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void go(int *a, int *b)
{
    __shared__ int s[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    s[t] = a[t];
    cluster.sync();
#ifdef FIXED
    int at = t;
#else
    int at = t + 1;
#endif
    b[blockIdx.x * 64 + t] = cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[at]; // expect: out_of_bounds
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
