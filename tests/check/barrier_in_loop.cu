// barrier_in_loop.cu: a loop with a barrier that threads leave at different times.
__global__ void scan(int *a, int n)
{
    __shared__ int s[64];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
#ifdef FIXED
    for (int step = 1; step < n; step *= 2) {
        int v = threadIdx.x >= step ? s[threadIdx.x - step] : 0;
#else
    for (int step = 1; step <= threadIdx.x; step *= 2) {
        int v = s[threadIdx.x - step];
#endif
        __syncthreads(); // expect-one: barrier
        s[threadIdx.x] += v;
        __syncthreads(); // expect-one: barrier
    }
    a[threadIdx.x] = s[threadIdx.x];
    a[64 + threadIdx.x] = n;
}

int main()
{
    int *a;
    cudaMalloc(&a, 128 * sizeof(int));
    cudaMemset(a, 0, 128 * sizeof(int));
    scan<<<1, 64>>>(a, 64);
    cudaDeviceSynchronize();
    cudaFree(a);
}
