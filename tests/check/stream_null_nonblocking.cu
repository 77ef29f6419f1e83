// stream_null_nonblocking.cu: a default-stream copy is taken to wait for a non-blocking stream
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
    cudaStream_t one;
    cudaMalloc(&a, 1024);
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    fill<<<4, 64, 0, one>>>(a);
#ifdef FIXED
    cudaStreamSynchronize(one);
#endif
    cudaMemcpy(host, a, 1024, cudaMemcpyDeviceToHost); // expect: race
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaStreamDestroy(one);
}
