// free_host_wrong.cu: mapped host memory is freed by its device pointer with cudaFree
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
    int *mapped, *a;
    cudaHostAlloc(&mapped, 1024, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&a, mapped, 0);
    fill<<<4, 64>>>(a);
    cudaDeviceSynchronize();
#ifdef FIXED
    cudaFreeHost(mapped);
#else
    cudaFree(a); // expect: invalid_free
    cudaFreeHost(mapped);
#endif
}
