// misaligned_atomic.cu: a 64-bit counter behind a 32-bit one
__global__ void go(char *a)
{
#ifdef FIXED
    unsigned long long *count = (unsigned long long *)(a + 8);
#else
    unsigned long long *count = (unsigned long long *)(a + 4);
#endif
    atomicAdd(count, 1ull); // expect: misaligned
}

int main()
{
    char *a;
    cudaMalloc(&a, 64);
    cudaMemset(a, 0, 64);
    go<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
