// oob_async_elements.cu: an asynchronous memset whose length was taken from another type
int main()
{
    short *a;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&a, 100 * sizeof(short));
#ifdef FIXED
    cudaMemsetAsync(a, 0, 100 * sizeof(short), stream);
#else
    cudaMemsetAsync(a, 0, 100 * sizeof(int), stream); // expect: out_of_bounds
#endif
    cudaStreamSynchronize(stream);
    cudaFree(a);
    cudaStreamDestroy(stream);
}
