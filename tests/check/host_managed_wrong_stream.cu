// host_managed_wrong_stream.cu: the host waits for the wrong stream and reads managed memory
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
    int *a, sum = 0;
    cudaStream_t one, two;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaMallocManaged(&a, 1024);
    fill<<<4, 64, 0, one>>>(a);
#ifdef FIXED
    cudaStreamSynchronize(one);
#else
    cudaStreamSynchronize(two);
#endif
    for (int i = 0; i < 256; i++)
        sum += a[i]; // expect: race
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    return sum == -1;
}
