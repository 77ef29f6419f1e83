// mask_match.cu: lanes of one group call for another group's mask
__global__ void go(int *a, int *b)
{
    int t = threadIdx.x;
    unsigned group = __match_any_sync(~0u, (a[t] + t) & 3);
#ifndef FIXED
    group = (group << 1) | (group >> 31);
#endif
    b[t] = __reduce_max_sync(group, t); // expect: sync_mask
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
