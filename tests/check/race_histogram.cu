// race_histogram.cu: bins in shared memory are counted up without atomics.
__global__ void histogram(const int *in, int *out, int n)
{
    __shared__ int bins[8];
    if (threadIdx.x < 8)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
#ifdef FIXED
        atomicAdd(&bins[in[i] & 7], 1);
#else
        bins[in[i] & 7]++; // expect: race
#endif
    __syncthreads();
    if (threadIdx.x < 8)
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

int main()
{
    int host[256], *in, *out;
    for (int i = 0; i < 256; i++)
        host[i] = i * 37;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, 8 * sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, 8 * sizeof(int));
    histogram<<<2, 64>>>(in, out, 256);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
