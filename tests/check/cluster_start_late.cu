// cluster_start_late.cu: the first thread of each block gives its sum to block 0, which may not have
// begun. The other warps are at the cluster's barrier by then, which helps nobody.
// options: -arch=sm_90
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) sum(const int *in, int *out)
{
    __shared__ int part[4], all[4];
    cg::cluster_group cluster = cg::this_cluster();
#ifdef FIXED
    cluster.sync();
#endif
    int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = 16; step; step /= 2)
        value += __shfl_down_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        cluster.map_shared_rank(all, 0)[cluster.block_rank()] = part[0] + part[1] + part[2] + part[3]; // expect: cluster_start
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0)
        atomicAdd(out, all[0] + all[1] + all[2] + all[3]);
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 8 * 128 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 0, 8 * 128 * sizeof(int));
    cudaMemset(out, 0, sizeof(int));
    sum<<<8, 128>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
