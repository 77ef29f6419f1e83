// leak_pool.cu: memory of a stream that is never given back
int main()
{
    int *a;
    cudaMallocAsync(&a, 1024, 0); // expect: leak
#ifdef FIXED
    cudaFreeAsync(a, 0);
#endif
    cudaDeviceSynchronize();
}
