// race_output.cu: the last block reads what the others have written, in the same launch.
__global__ void totals(const int *in, int *sums, int *all)
{
    int v = __reduce_add_sync(~0u, in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = v; // expect: race
#ifndef FIXED
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x < gridDim.x)
        atomicAdd(all, sums[threadIdx.x]); // expect: race
#endif
}

__global__ void add(const int *sums, int *all)
{
    atomicAdd(all, sums[threadIdx.x]);
}

int main()
{
    int *in, *sums, *all;
    cudaMalloc(&in, 4 * 32 * sizeof(int));
    cudaMalloc(&sums, 4 * sizeof(int));
    cudaMalloc(&all, sizeof(int));
    cudaMemset(in, 0, 4 * 32 * sizeof(int));
    cudaMemset(all, 0, sizeof(int));
    totals<<<4, 32>>>(in, sums, all);
#ifdef FIXED
    add<<<1, 4>>>(sums, all);
#endif
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(sums);
    cudaFree(all);
}
