// stream_memset_async.cu: a memset in one stream, the kernel that counts on it in another
__global__ void fill(int *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void twice(const int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i] * 2;
}

int main()
{
    int *a;
    cudaStream_t one, two;
    cudaMalloc(&a, 1024);
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaMemsetAsync(a, 0, 1024, one); // expect: race
#ifdef FIXED
    fill<<<4, 64, 0, one>>>(a);
#else
    fill<<<4, 64, 0, two>>>(a);
#endif
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}
