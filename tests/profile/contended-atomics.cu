// A sum by one atomic a thread; fixed: one a block.
__global__ void sum(int *total, const int *in)
{
    int value = in[blockIdx.x * blockDim.x + threadIdx.x];
#ifdef FIXED
    __shared__ int parts[8];
    for (int k = 16; k; k >>= 1)
        value += __shfl_down_sync(0xffffffff, value, k);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            value += parts[k];
        atomicAdd(total, value);
    }
#else
    atomicAdd(total, value); // <- contended-atomics
#endif
}

int main()
{
    const int n = 1 << 18;
    int *in, *total;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    sum<<<n / 256, 256>>>(total, in);
    return cudaDeviceSynchronize();
}
