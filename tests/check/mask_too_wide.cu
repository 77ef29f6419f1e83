// mask_too_wide.cu: the mask names lanes that went another way.
__global__ void share(int *a)
{
    int v = a[threadIdx.x];
    if (threadIdx.x < 16)
#ifdef FIXED
        v += __shfl_down_sync(0x0000ffff, v, 8, 16);
#else
        v += __shfl_down_sync(0xffffffff, v, 8); // expect: sync_mask
#endif
    a[threadIdx.x] = v;
    a[32 + threadIdx.x] = v;
}

int main()
{
    int *a;
    cudaMalloc(&a, 64 * sizeof(int));
    cudaMemset(a, 0, 64 * sizeof(int));
    share<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
