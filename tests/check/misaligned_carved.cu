// misaligned_carved.cu: doubles behind an odd number of bytes in dynamic shared memory
extern __shared__ __align__(16) char memory[];
__global__ void go(double *b, int flags)
{
    double *values = (double *)(memory + flags);
    if (threadIdx.x < flags)
        memory[threadIdx.x] = 1;
    __syncthreads();
    values[threadIdx.x] = threadIdx.x; // expect: misaligned
    __syncthreads();
    b[threadIdx.x] = values[31 - threadIdx.x]; // expect: misaligned
}

int main()
{
    double *b;
    cudaMalloc(&b, 256);
#ifdef FIXED
    go<<<1, 32, 512>>>(b, 8);
#else
    go<<<1, 32, 512>>>(b, 5);
#endif
    cudaDeviceSynchronize();
    cudaFree(b);
}
