// host_pinned_reused.cu: the host fills the staging buffer again while it is still copied from
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
    int *a, *pinned;
    cudaStream_t one;
    cudaMalloc(&a, 2048);
    cudaMallocHost(&pinned, 1024);
    cudaStreamCreate(&one);
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < 256; i++)
            pinned[i] = half + i; // expect: race
        cudaMemcpyAsync(a + half * 256, pinned, 1024, cudaMemcpyHostToDevice, one); // expect: race
#ifdef FIXED
        cudaStreamSynchronize(one);
#endif
    }
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFreeHost(pinned);
    cudaStreamDestroy(one);
}
