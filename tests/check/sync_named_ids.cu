// sync_named_ids.cu: a producer arrives at one named barrier and its consumer waits at another
__global__ void go(int *a, int *b)
{
    __shared__ int s[32];
    int t = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        s[t] = a[t];
#ifdef FIXED
        asm volatile("bar.arrive 1, 64;" ::: "memory");
#else
        asm volatile("bar.arrive 2, 64;" ::: "memory"); // expect-one: barrier
#endif
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory"); // expect-one: barrier
        b[t] = s[t]; // expect-one: barrier
    }
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
