// race_atomic_and_store.cu: a block stores plainly what other blocks count with atomics
__global__ void go(int *a, int *b)
{
    if (blockIdx.x == 3 && threadIdx.x == 0)
#ifdef FIXED
        atomicAdd(&b[0], 1);
#else
        b[0] = 1; // expect: race
#endif
    else
        atomicAdd(&b[0], a[threadIdx.x] + 1); // expect: race
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<4, 32>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
