// race_block_fence.cu: a fence for the block where one for all blocks is needed.
__device__ unsigned arrived;

__global__ void sum(const int *in, int *parts, int *out)
{
    __shared__ bool is_last;
    int v = __reduce_add_sync(~0u, in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = v; // expect: race
#ifdef FIXED
        __threadfence();
#else
        __threadfence_block();
#endif
        is_last = atomicAdd(&arrived, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        __threadfence();
        int w = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0; // expect: race
        w = __reduce_add_sync(~0u, w);
        if (threadIdx.x == 0)
            *out = w;
    }
}

int main()
{
    int *in, *parts, *out;
    cudaMalloc(&in, 8 * 32 * sizeof(int));
    cudaMalloc(&parts, 8 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 0, 8 * 32 * sizeof(int));
    sum<<<8, 32>>>(in, parts, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(parts);
    cudaFree(out);
}
