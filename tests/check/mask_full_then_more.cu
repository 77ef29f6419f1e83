// mask_full_then_more.cu: a sum over a full mask in a branch of half of the lanes, while the
// others go on
__global__ void go(int *a, int *b)
{
    int t = threadIdx.x, x = a[t] + t;
    if (t < 16) {
#ifdef FIXED
        unsigned mask = 0xffff;
#else
        unsigned mask = 0xffffffff;
#endif
        for (int d = 8; d; d /= 2)
            x += __shfl_xor_sync(mask, x, d); // expect: sync_mask
        b[t] = x;
    }
    else
        b[t + 32] = atomicAdd(&a[40], x);
    __syncwarp();
    b[64 + t] = x;
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
