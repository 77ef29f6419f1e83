// race_block_lock.cu: a lock of block scope that guards what all blocks change
__global__ void go(int *a, int *b)
{
    if (threadIdx.x)
        return;
#ifdef FIXED
    while (atomicCAS(a, 0, 1))
        ;
#else
    while (atomicCAS_block(a, 0, 1)) // expect: race
        ;
#endif
    __threadfence();
    b[0] += 1; // expect-one: race
    __threadfence();
#ifdef FIXED
    atomicExch(a, 0);
#else
    atomicExch_block(a, 0); // expect-one: race
#endif
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
