// cluster_bounds.cu: an access past the end of another block's shared memory.
// options: -arch=sm_90
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) shift(int *out, int step)
{
    __shared__ int value[32];
    cg::cluster_group cluster = cg::this_cluster();
    value[threadIdx.x] = threadIdx.x;
    cluster.sync();
    int *there = cluster.map_shared_rank(value, cluster.block_rank() ^ 1);
#ifdef FIXED
    step = 0;
#endif
    out[blockIdx.x * 32 + threadIdx.x] = there[threadIdx.x + step]; // expect: out_of_bounds "another block of the cluster"
    cluster.sync();
}

int main()
{
    int *out;
    cudaMalloc(&out, 2 * 32 * sizeof(int));
    shift<<<2, 32>>>(out, 1);
    cudaDeviceSynchronize();
    cudaFree(out);
}
