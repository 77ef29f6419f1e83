// unset_tail_tile.cu: a tile whose last rows are not loaded, and summed up all the same
__global__ void go(const int *a, int *b, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n)
        s[t] = a[t];
#ifdef FIXED
    else
        s[t] = 0;
#endif
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 64; i++)
        sum += s[i]; // expect: uninitialized
    b[t] = sum; // expect-one: uninitialized
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 256);
    cudaMalloc(&b, 256);
    cudaMemset(a, 0, 256);
    go<<<1, 64>>>(a, b, 50);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
