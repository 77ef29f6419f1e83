// sync_named_count.cu: a named barrier for 96 threads in a block of which only two warps use it
__global__ void go(int *a, int *b)
{
    int t = threadIdx.x;
    b[t] = a[t];
    if (t < 64)
#ifdef FIXED
        asm volatile("bar.sync 3, 64;" ::: "memory");
#else
        asm volatile("bar.sync 3, 96;" ::: "memory"); // expect: barrier
#endif
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
