// unset_pool.cu: memory from a pool that was used before is not initialised by its next owner
__global__ void go(const int *a, int *b)
{
    if (a[threadIdx.x] > 0) // expect: uninitialized
        b[threadIdx.x] = 1;
}

int main()
{
    int *a, *b;
    cudaMalloc(&b, 128);
    cudaMallocAsync(&a, 128, 0);
    cudaMemsetAsync(a, 1, 128, 0);
    cudaFreeAsync(a, 0);
    cudaMallocAsync(&a, 128, 0);
#ifdef FIXED
    cudaMemsetAsync(a, 1, 128, 0);
#endif
    go<<<1, 32>>>(a, b);
    cudaFreeAsync(a, 0);
    cudaDeviceSynchronize();
    cudaFree(b);
}
