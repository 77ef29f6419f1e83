// host_mapped_early.cu: the host reads mapped memory that a kernel still writes
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
    int *mapped, *a, sum = 0;
    cudaHostAlloc(&mapped, 1024, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&a, mapped, 0);
    fill<<<4, 64>>>(a);
#ifdef FIXED
    cudaDeviceSynchronize();
#endif
    for (int i = 0; i < 256; i++)
        sum += ((volatile int *)mapped)[i]; // expect: race "with the host: the host reads"
    cudaDeviceSynchronize();
    cudaFreeHost(mapped);
    return sum == -1;
}
