// stream_event_early.cu: an event that is recorded before the kernel whose result is waited for
__global__ void fill(int *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void twice(const int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i] * 2; // expect: race
}

int main()
{
    int *a, *b;
    cudaStream_t one, two;
    cudaEvent_t filled;
    cudaMalloc(&a, 1024);
    cudaMalloc(&b, 1024);
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreate(&filled);
#ifndef FIXED
    cudaEventRecord(filled, one);
#endif
    fill<<<4, 64, 0, one>>>(a);
#ifdef FIXED
    cudaEventRecord(filled, one);
#endif
    cudaStreamWaitEvent(two, filled);
    twice<<<4, 64, 0, two>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaEventDestroy(filled);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}
