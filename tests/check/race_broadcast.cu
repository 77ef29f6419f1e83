// race_broadcast.cu: a thread writes the block's decision again before all have read the last one
__global__ void go(int *a, int *b)
{
    __shared__ int next;
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 3; i++) {
        if (t == 0)
            next = a[i] + i; // expect: race
        __syncthreads();
        sum += next; // expect: race
#ifdef FIXED
        __syncthreads();
#endif
    }
    b[t] = sum;
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<1, 64>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
