// race_counter.cu: all blocks add to a sum in global memory without atomics.
__global__ void sum(const int *in, int *total)
{
    int v = in[blockIdx.x];
#ifdef FIXED
    if (threadIdx.x == 0)
        atomicAdd(total, v);
#else
    if (threadIdx.x == 0)
        *total += v; // expect: race
#endif
}

int main()
{
    int host[4] = {1, 2, 3, 4}, *in, *total;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&total, sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(total, 0, sizeof(int));
    sum<<<4, 32>>>(in, total);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(total);
}
