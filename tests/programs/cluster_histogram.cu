// A histogram whose bins are spread over the shared memory of a cluster: cudaLaunchKernelEx with
// clusters of 1, 2, 4, 8 and (non-portable) 16 blocks, cluster_group, atomics on the shared memory
// of other blocks; then what the driver says to bad cluster sizes.
// flags: -arch=sm_90 -std=c++17
// takes: long

#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

enum { BINS = 96, COUNT = 20000, BLOCKS = 16, THREADS = 128 };

__global__ void histogram(const int *in, int count, int *out, int bins_per_block)
{
    extern __shared__ int bins[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
        bins[i] = 0;
    cluster.sync();
    for (int i = cg::this_grid().thread_rank(); i < count; i += gridDim.x * blockDim.x) {
        int bin = in[i], owner = bin / bins_per_block;
        int *there = cluster.map_shared_rank(bins, owner);
        atomicAdd(there + bin % bins_per_block, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) {
        int bin = cluster.block_rank() * bins_per_block + i;
        if (bin < BINS)
            atomicAdd(out + bin, bins[i]);
    }
}

static cudaError_t launch(int size, int blocks, const int *in, int *out)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;
    int per_block = (BINS + size - 1) / size;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {(unsigned)size, 1, 1};
    config.gridDim = blocks;
    config.blockDim = THREADS;
    config.dynamicSmemBytes = per_block * sizeof(int);
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, histogram, in, (int)COUNT, out, per_block);
}

int main()
{
    std::vector<int> data(COUNT), expected(BINS), got(BINS);
    unsigned state = 1;
    for (int &value : data) {
        state = state * 1664525u + 1013904223u;
        value = (state >> 16) % BINS * ((state >> 9) % 2);
        expected[value]++;
    }
    int *in, *out;
    cudaMalloc(&in, COUNT * sizeof(int));
    cudaMalloc(&out, BINS * sizeof(int));
    cudaMemcpy(in, data.data(), COUNT * sizeof(int), cudaMemcpyHostToDevice);
    printf("16 without leave: %s\n", launch(16, BLOCKS, in, out) ? "refused" : "taken");
    cudaGetLastError();
    cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    for (int size = 1; size <= 16; size *= 2) {
        cudaMemset(out, 0, BINS * sizeof(int));
        cudaError_t status = launch(size, BLOCKS, in, out);
        cudaMemcpy(got.data(), out, BINS * sizeof(int), cudaMemcpyDeviceToHost);
        printf("clusters of %d: %s, bin 0 has %d, bin 95 has %d, %s\n", size,
               cudaGetErrorName(status), got[0], got[95], got == expected ? "right" : "wrong");
    }
    printf("a grid of 10 in clusters of 4: %s\n", launch(4, 10, in, out) ? "refused" : "taken");
    cudaGetLastError();
    cudaFree(in);
    cudaFree(out);
}
