// use_after_free_again.cu: freed memory is not reused by the next allocation, so its use is still
// detected.
__global__ void store(int *a)
{
    a[threadIdx.x] = 1; // expect: use_after_free
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaFree(a);
    cudaMalloc(&b, 4096);
#ifdef FIXED
    store<<<1, 32>>>(b);
#else
    store<<<1, 32>>>(a);
#endif
    cudaDeviceSynchronize();
    cudaFree(b);
}
