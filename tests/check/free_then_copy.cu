// free_then_copy.cu: a copy from memory that was freed
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
    int *a, host[256];
    cudaMalloc(&a, 1024);
    fill<<<4, 64>>>(a);
#ifdef FIXED
    cudaMemcpy(host, a, 1024, cudaMemcpyDeviceToHost);
    cudaFree(a);
#else
    cudaFree(a);
    cudaMemcpy(host, a, 1024, cudaMemcpyDeviceToHost); // expect: use_after_free
#endif
    return host[0] == -1;
}
