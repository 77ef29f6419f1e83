// race_inner_byte.cu: two warps write different bytes of a word, one of them as a whole word
__global__ void go(int *a, int *b)
{
    __shared__ unsigned s[32];
    int t = threadIdx.x;
    if (t < 32)
        s[t] = a[t]; // expect: race
#ifdef FIXED
    __syncthreads();
#endif
    if (t >= 32)
        ((unsigned char *)s)[(t - 32) * 4 + 3] = 7; // expect: race
    __syncthreads();
    b[t] = s[t & 31];
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
