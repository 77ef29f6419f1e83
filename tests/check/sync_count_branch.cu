// sync_count_branch.cu: __syncthreads_count in a branch that depends on the warp
__global__ void go(int *a, int *b)
{
    int t = threadIdx.x, found = 0;
#ifndef FIXED
    if (t < 64)
#endif
        found = __syncthreads_count(a[t] == 0); // expect: barrier
    b[t] = found;
    __syncthreads();
    b[t + 128] = b[t];
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<1, 128>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
