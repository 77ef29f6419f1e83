// free_other_stream.cu: memory is freed in the stream that allocated it while another stream still
// reads it. Which of the two comes first in a run decides what the report calls it.
__global__ void fill(int *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void twice(const int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i] * 2; // expect-one: use_after_free
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
    cudaFreeAsync(a, one); // expect-one: race
    cudaDeviceSynchronize();
    cudaFree(b);
    cudaEventDestroy(filled);
    cudaEventDestroy(used);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}
