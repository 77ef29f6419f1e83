// host_managed_write.cu: the host writes managed memory after a launch, before it waits
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
    cudaMallocManaged(&a, 1024);
    fill<<<4, 64>>>(a);
#ifdef FIXED
    cudaDeviceSynchronize();
#endif
    a[3] = 7; // expect: race
    cudaDeviceSynchronize();
    cudaFree(a);
}
