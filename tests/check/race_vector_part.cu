// race_vector_part.cu: a warp writes 16 bytes a thread, another reads one word of them with no
// barrier between
__global__ void go(int *a, int *b)
{
    __shared__ int4 s[32];
    int t = threadIdx.x;
    if (t < 32)
        s[t] = ((int4 *)a)[t]; // expect: race
#ifdef FIXED
    __syncthreads();
#endif
    if (t >= 32)
        b[t] = ((int *)s)[t * 2]; // expect: race
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
