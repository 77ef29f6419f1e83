// race_streams.cu: one stream writes a buffer, another reads it, and nothing orders the two.
__global__ void fill(int *a)
{
    a[threadIdx.x] = threadIdx.x;
}

__global__ void add(const int *a, int *b)
{
    b[threadIdx.x] += a[threadIdx.x]; // expect: race "between streams"
}

int main()
{
    int *a, *b;
    cudaStream_t one, two;
    cudaEvent_t done;
    cudaMalloc(&a, 64 * sizeof(int));
    cudaMalloc(&b, 64 * sizeof(int));
    cudaMemset(b, 0, 64 * sizeof(int));
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaEventCreate(&done);
    fill<<<1, 64, 0, one>>>(a); // expect: race
#ifdef FIXED
    cudaEventRecord(done, one);
    cudaStreamWaitEvent(two, done, 0);
#endif
    add<<<1, 64, 0, two>>>(a, b);
    cudaDeviceSynchronize();
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    cudaEventDestroy(done);
    cudaFree(a);
    cudaFree(b);
}
