// race_block_scope.cu: atomicAdd_block is atomic among the threads of one block; here every block
// adds to the same word.
__global__ void count(const int *in, int *total)
{
    int v = __reduce_add_sync(~0u, in[blockIdx.x * 64 + threadIdx.x]);
    if (threadIdx.x % 32 == 0)
#ifdef FIXED
        atomicAdd(total, v);
#else
        atomicAdd_block(total, v); // expect: race "scope"
#endif
}

int main()
{
    int *in, *total;
    cudaMalloc(&in, 4 * 64 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(in, 0, 4 * 64 * sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    count<<<4, 64>>>(in, total);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(total);
}
