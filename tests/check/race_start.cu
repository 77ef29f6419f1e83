// race_start.cu: threads add to a sum that the first one may not have set to zero yet.
__global__ void sum(const int *in, int *out)
{
    __shared__ int total;
    if (threadIdx.x == 0)
        total = 0; // expect: race
#ifdef FIXED
    __syncthreads();
#endif
    atomicAdd(&total, in[threadIdx.x]); // expect: race
    __syncthreads();
    if (threadIdx.x == 0)
        *out = total;
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    sum<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
