// race_volatile_blocks.cu: a flag between blocks by volatile accesses, with the data plain and no
// fence
__global__ void go(int *a, int *b)
{
    volatile int *flag = a;
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        b[0] = 3; // expect: race
#ifdef FIXED
        __threadfence();
#endif
        *flag = 1;
    } else {
        while (*flag == 0)
            ;
#ifdef FIXED
        __threadfence();
#endif
        b[1] = b[0]; // expect: race
    }
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<2, 32>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
