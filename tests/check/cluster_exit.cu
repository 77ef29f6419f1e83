// cluster_exit.cu: a block ends while another may still read its shared memory.
// options: -arch=sm_90
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) swap(int *out)
{
    __shared__ int value[32];
    cg::cluster_group cluster = cg::this_cluster();
    value[threadIdx.x] = blockIdx.x * 32 + threadIdx.x;
    cluster.sync();
    int *there = cluster.map_shared_rank(value, cluster.block_rank() ^ 1);
    out[blockIdx.x * 32 + threadIdx.x] = there[threadIdx.x]; // expect: cluster_exit
#ifdef FIXED
    cluster.sync();
#endif
}

int main()
{
    int *out;
    cudaMalloc(&out, 4 * 32 * sizeof(int));
    swap<<<4, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
