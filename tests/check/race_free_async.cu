// race_free_async.cu: memory is freed in one stream while a kernel of another may still use it.
__global__ void fill(int *a)
{
    a[threadIdx.x] = threadIdx.x;
}

int main()
{
    int *a;
    cudaStream_t one, two;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaMallocAsync(&a, 64 * sizeof(int), one);
    cudaStreamSynchronize(one);
    fill<<<1, 64, 0, one>>>(a); // expect: race
#ifdef FIXED
    cudaFreeAsync(a, one);
#else
    cudaFreeAsync(a, two); // expect: race "a free"
#endif
    cudaDeviceSynchronize();
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}
