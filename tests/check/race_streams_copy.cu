// race_streams_copy.cu: a copy of one stream beside a kernel of another, and a memset beside a copy.
__global__ void twice(int *a)
{
    a[threadIdx.x] *= 2;
}

int main()
{
    int *a, *pinned;
    cudaStream_t one, two;
    cudaMalloc(&a, 64 * sizeof(int));
    cudaMallocHost(&pinned, 64 * sizeof(int));
    for (int i = 0; i < 64; i++)
        pinned[i] = i;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaMemcpyAsync(a, pinned, 64 * sizeof(int), cudaMemcpyHostToDevice, one); // expect: race "a copy"
#ifdef FIXED
    cudaStreamSynchronize(one);
#endif
    twice<<<1, 64, 0, two>>>(a); // expect: race
    cudaDeviceSynchronize();
    cudaMemsetAsync(a, 0, 32 * sizeof(int), one); // expect: race
#ifdef FIXED
    cudaStreamSynchronize(one);
#endif
    cudaMemcpyAsync(pinned, a, 64 * sizeof(int), cudaMemcpyDeviceToHost, two); // expect: race "a memset"
    cudaDeviceSynchronize();
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    cudaFreeHost(pinned);
    cudaFree(a);
}
