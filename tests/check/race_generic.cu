// race_generic.cu: shared memory reached by a pointer that may lead to either kind of memory
__device__ __noinline__ void put(int *to, int value)
{
    *to = value;
}
__device__ __noinline__ int get(const int *from)
{
    return *from;
}
__global__ void go(int *a, int *b)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    put(a[0] ? a + t : s + t, t);
#ifdef FIXED
    __syncthreads();
#endif
    b[t] = get(a[0] ? a : s + 63 - t); // expect: race
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
