// mask_reduce_else.cu: both sides of a branch reduce with the same mask
__global__ void go(int *a, int *b)
{
    int t = threadIdx.x;
    unsigned low = 0x0000ffff, high = 0xffff0000;
    if (t < 16)
        b[t] = __reduce_add_sync(low, a[t] + t);
    else
#ifdef FIXED
        b[t] = __reduce_add_sync(high, a[t]);
#else
        b[t] = __reduce_add_sync(low | (1u << 16), a[t]); // expect: sync_mask
#endif
    if (high == low)
        b[99] = 0;
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<1, 32>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
