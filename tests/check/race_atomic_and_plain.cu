// race_atomic_and_plain.cu: a sum in shared memory is read before all have added to it.
__global__ void sum(const int *in, int *out)
{
    __shared__ int total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    atomicAdd(&total, in[threadIdx.x]); // expect: race
#ifdef FIXED
    __syncthreads();
#endif
    out[threadIdx.x] = total; // expect: race
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    sum<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
