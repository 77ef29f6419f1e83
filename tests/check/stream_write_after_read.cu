// stream_write_after_read.cu: the next frame is written while the last one is still read in
// another stream
__global__ void fill(int *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1; // expect-one: race
}
__global__ void twice(const int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i] * 2; // expect-one: race
}

int main()
{
    int *a, *b;
    cudaStream_t one, two;
    cudaEvent_t done[2];
    cudaMalloc(&a, 1024);
    cudaMalloc(&b, 1024);
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreate(&done[0]);
    cudaEventCreate(&done[1]);
    for (int frame = 0; frame < 3; frame++) {
#ifdef FIXED
        cudaStreamWaitEvent(one, done[1]);
#endif
        fill<<<4, 64, 0, one>>>(a);
        cudaEventRecord(done[0], one);
        cudaStreamWaitEvent(two, done[0]);
        twice<<<4, 64, 0, two>>>(a, b);
        cudaEventRecord(done[1], two);
    }
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaEventDestroy(done[0]);
    cudaEventDestroy(done[1]);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}
