// free_other_stream.cu: memory is freed in the stream that allocated it while another stream still
// reads it
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
    int *a, *b;
    cudaStream_t one, two;
    cudaEvent_t filled, used;
    cudaMalloc(&b, 1024);
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreate(&filled);
    cudaEventCreate(&used);
    cudaMallocAsync(&a, 1024, one);
    fill<<<4, 64, 0, one>>>(a);
    cudaEventRecord(filled, one);
    cudaStreamWaitEvent(two, filled);
    twice<<<4, 64, 0, two>>>(a, b);
    cudaEventRecord(used, two);
#ifdef FIXED
    cudaStreamWaitEvent(one, used);
#endif
    cudaFreeAsync(a, one); // expect: race
    cudaDeviceSynchronize();
    cudaFree(b);
    cudaEventDestroy(filled);
    cudaEventDestroy(used);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}
