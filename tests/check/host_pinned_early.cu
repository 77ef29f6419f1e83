// host_pinned_early.cu: the host reads pinned memory before the copy into it is done
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
    int *a, *pinned, sum = 0;
    cudaStream_t one;
    cudaMalloc(&a, 1024);
    cudaMallocHost(&pinned, 1024);
    cudaStreamCreate(&one);
    fill<<<4, 64, 0, one>>>(a);
    cudaMemcpyAsync(pinned, a, 1024, cudaMemcpyDeviceToHost, one); // expect: race
#ifdef FIXED
    cudaStreamSynchronize(one);
#endif
    for (int i = 0; i < 256; i++)
        sum += pinned[i]; // expect: race
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFreeHost(pinned);
    cudaStreamDestroy(one);
    return sum == -1;
}
