// race_last_tile.cu: the barrier at the end of a loop is skipped by continue in every thread
__global__ void go(int *a, int *b)
{
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 4; i++) {
        s[t] = a[i * 64 + t]; // expect: race
        __syncthreads();
        sum += s[t ^ 32]; // expect: race
#ifndef FIXED
        if (i % 2 == 0)
            continue;
#endif
        __syncthreads();
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
