// oob_mapped.cu: a kernel writes past the end of mapped host memory
__global__ void go(int *a)
{
    a[threadIdx.x] = 1; // expect: out_of_bounds
}

int main()
{
    int *host, *a;
    cudaHostAlloc(&host, 60 * 4, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&a, host, 0);
#ifdef FIXED
    go<<<1, 60>>>(a);
#else
    go<<<1, 64>>>(a);
#endif
    cudaDeviceSynchronize();
    cudaFreeHost(host);
}
