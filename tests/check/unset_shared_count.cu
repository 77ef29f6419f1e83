// unset_shared_count.cu: a counter in dynamic shared memory that nobody sets to zero
extern __shared__ int count[];
__global__ void go(int *b)
{
#ifdef FIXED
    if (threadIdx.x == 0)
        count[0] = 0;
    __syncthreads();
#endif
    atomicAdd(&count[0], 1); // expect: uninitialized
    __syncthreads();
    b[threadIdx.x] = count[0];
}

int main()
{
    int *b;
    cudaMalloc(&b, 256);
    go<<<1, 64, 4>>>(b);
    cudaDeviceSynchronize();
    cudaFree(b);
}
