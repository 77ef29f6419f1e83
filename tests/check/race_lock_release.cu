// race_lock_release.cu: a lock taken with atomicCAS and given back by a plain store
__global__ void go(int *a, int *b)
{
    if (threadIdx.x)
        return;
    while (atomicCAS(a, 0, 1)) // expect: race
        ;
    __threadfence();
    b[0] += 1; // expect-one: race
    __threadfence();
#ifdef FIXED
    atomicExch(a, 0);
#else
    a[0] = 0; // expect: race
#endif
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<8, 32>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
