// oob_variable.cu: a __device__ array, one past its end.
__device__ int bins[16];

__global__ void count(const int *keys, int n)
{
    int i = threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i]], 1); // expect: out_of_bounds
}

int main()
{
#ifdef FIXED
    int host[4] = {0, 5, 15, 3}, *keys;
#else
    int host[4] = {0, 5, 16, 3}, *keys;
#endif
    cudaMalloc(&keys, sizeof host);
    cudaMemcpy(keys, host, sizeof host, cudaMemcpyHostToDevice);
    count<<<1, 32>>>(keys, 4);
    cudaDeviceSynchronize();
    cudaFree(keys);
}
