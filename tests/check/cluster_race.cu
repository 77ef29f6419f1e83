// cluster_race.cu: a block reads its neighbour's shared memory and nothing orders that after the write.
// options: -arch=sm_90
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) swap(int *out)
{
    __shared__ int value[32];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync(); // both blocks have begun
    value[threadIdx.x] = blockIdx.x * 32 + threadIdx.x; // expect: race
#ifdef FIXED
    cluster.sync();
#endif
    int *there = cluster.map_shared_rank(value, cluster.block_rank() ^ 1);
    out[blockIdx.x * 32 + threadIdx.x] = there[threadIdx.x]; // expect: race "between blocks of a cluster"
    cluster.sync();
}

int main()
{
    int *out;
    cudaMalloc(&out, 4 * 32 * sizeof(int));
    swap<<<4, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
