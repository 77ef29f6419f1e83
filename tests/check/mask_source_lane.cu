// mask_source_lane.cu: lanes of a branch read from a lane that did not take it
__global__ void go(int *a, int *b)
{
    int t = threadIdx.x, x = a[t] + t;
#ifndef FIXED
    if (t != 3)
#endif
        b[t] = __shfl_sync(__activemask(), x, 3); // expect: sync_mask
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
