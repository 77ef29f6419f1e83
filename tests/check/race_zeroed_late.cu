// race_zeroed_late.cu: a counter in shared memory that one thread clears again while others already
// add
__global__ void go(int *a, int *b)
{
    __shared__ int sum;
    int t = threadIdx.x;
    if (t == 0)
        sum = 0;
    __syncthreads();
    if (t == 33)
        sum = 0; // expect: race
#ifdef FIXED
    __syncthreads();
#endif
    atomicAdd(&sum, a[t] + 1); // expect: race
    __syncthreads();
    b[t] = sum;
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<1, 64>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
