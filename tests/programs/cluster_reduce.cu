// A sum over a cluster through distributed shared memory, with __cluster_dims__ in two dimensions:
// cluster_group's ranks, indices and sizes, map_shared_rank and query_shared_rank, barrier_arrive
// and barrier_wait apart, and a pointer to shared memory that another block follows.
// flags: -arch=sm_90 -std=c++17
// takes: long

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>

namespace cg = cooperative_groups;

enum { THREADS = 64, X = 4, Y = 4 };

__global__ void __cluster_dims__(2, 2, 1) sums(const int *in, long long *out, int *facts)
{
    __shared__ long long partial;
    __shared__ long long *others[4];
    cg::cluster_group cluster = cg::this_cluster();
    cg::thread_block block = cg::this_thread_block();
    int linear = blockIdx.y * gridDim.x + blockIdx.x;
    if (block.thread_rank() == 0)
        partial = 0;
    block.sync();
    atomicAdd((unsigned long long *)&partial, (unsigned long long)in[linear * THREADS + threadIdx.x]);
    cluster.sync(); /* the first block has begun */
    if (block.thread_rank() == 0) { /* every block's own address, as it is, to the first one */
        long long **table = cluster.map_shared_rank(others, 0);
        table[cluster.block_rank()] = &partial;
    }
    cg::cluster_group::arrival_token token = cluster.barrier_arrive();
    int mine = cluster.query_shared_rank(&partial);
    cluster.barrier_wait(std::move(token));
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        long long sum = 0, same = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); rank++) {
            sum += *cluster.map_shared_rank(&partial, rank);
            same += *others[rank];
        }
        int number = blockIdx.y / 2 * (gridDim.x / 2) + blockIdx.x / 2;
        out[2 * number] = sum;
        out[2 * number + 1] = same;
    }
    if (threadIdx.x == 5) {
        int *to = facts + linear * 6;
        to[0] = cluster.block_rank();
        to[1] = cluster.block_index().x * 10 + cluster.block_index().y;
        to[2] = cluster.num_threads();
        to[3] = cluster.thread_rank();
        to[4] = cluster.dim_blocks().x * 10 + cluster.dim_blocks().y;
        to[5] = mine;
    }
    cluster.sync();
}

int main()
{
    static int data[X * Y * THREADS];
    static int facts[X * Y * 6];
    long long out[8], expected[4] = {0};
    for (int i = 0; i < X * Y * THREADS; i++) {
        data[i] = i * 7 % 1009;
        int block = i / THREADS, x = block % X, y = block / X;
        expected[y / 2 * (X / 2) + x / 2] += data[i];
    }
    int *in, *device_facts;
    long long *sums_out;
    cudaMalloc(&in, sizeof data);
    cudaMalloc(&sums_out, sizeof out);
    cudaMalloc(&device_facts, sizeof facts);
    cudaMemcpy(in, data, sizeof data, cudaMemcpyHostToDevice);
    sums<<<dim3(X, Y), THREADS>>>(in, sums_out, device_facts);
    cudaError_t status = cudaMemcpy(out, sums_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaMemcpy(facts, device_facts, sizeof facts, cudaMemcpyDeviceToHost);
    printf("%s\n", cudaGetErrorName(status));
    for (int i = 0; i < 4; i++)
        printf("cluster %d: %lld %s %s\n", i, out[2 * i], out[2 * i] == expected[i] ? "right" : "wrong",
               out[2 * i + 1] == expected[i] ? "right" : "wrong");
    for (int i = 0; i < X * Y; i++)
        printf("block %d: rank %d index %02d threads %d thread %d dims %d own %d\n", i,
               facts[i * 6], facts[i * 6 + 1], facts[i * 6 + 2], facts[i * 6 + 3], facts[i * 6 + 4],
               facts[i * 6 + 5]);
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, sums);
    printf("required: %d x %d x %d\n", attributes.requiredClusterWidth,
           attributes.requiredClusterHeight, attributes.requiredClusterDepth);
    sums<<<dim3(3, 2), THREADS>>>(in, sums_out, device_facts);
    printf("a grid of 3 x 2: %s\n", cudaGetLastError() ? "refused" : "taken");
    cudaFree(in);
    cudaFree(sums_out);
    cudaFree(device_facts);
}
