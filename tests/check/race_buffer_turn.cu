// race_buffer_turn.cu: two buffers taken in turn, but a tile is overwritten while slow warps still
// read it
__global__ void go(int *a, int *b)
{
    __shared__ int s[2][64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 4; i++) {
#ifdef FIXED
        int now = i & 1;
#else
        int now = 0;
#endif
        s[now][t] = a[i * 64 + t]; // expect: race
        __syncthreads();
        sum += s[now][63 - t]; // expect: race
    }
    b[t] = sum;
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
