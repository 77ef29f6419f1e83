// barrier_count.cu: a named barrier waits for more threads than ever come.
__global__ void named(int *a)
{
    a[threadIdx.x] = 1;
    if (threadIdx.x < 64)
#ifdef FIXED
        asm volatile("bar.sync 1, 64;" ::: "memory");
#else
        asm volatile("bar.sync 1, 96;" ::: "memory"); // expect: barrier
#endif
    a[threadIdx.x] = 2;
}

int main()
{
    int *a;
    cudaMalloc(&a, 128 * sizeof(int));
    named<<<1, 128>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
