// oob_pool.cu: memory of a pool is as exact as any other.
__global__ void fill(char *a, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        a[i] = 1; // expect: out_of_bounds
}

int main()
{
    char *a, *b;
    cudaMallocAsync(&a, 100, 0);
    cudaMallocAsync(&b, 100, 0);
#ifdef FIXED
    fill<<<1, 32>>>(a, 100);
#else
    fill<<<1, 32>>>(a, 101);
#endif
    cudaFreeAsync(a, 0);
    cudaFreeAsync(b, 0);
    cudaDeviceSynchronize();
}
