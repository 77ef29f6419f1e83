// unset_ping_pong.cu: the first step reads the buffer that the last one would have written
__global__ void go(const int *from, int *to)
{
    to[threadIdx.x] = from[threadIdx.x] + from[(threadIdx.x + 1) & 31]; // expect: uninitialized
}

int main()
{
    int *a[2];
    cudaMalloc(&a[0], 128);
    cudaMalloc(&a[1], 128);
    cudaMemset(a[0], 0, 128);
    for (int i = 0; i < 3; i++)
#ifdef FIXED
        go<<<1, 32>>>(a[i & 1], a[~i & 1]);
#else
        go<<<1, 32>>>(a[~i & 1], a[i & 1]);
#endif
    cudaDeviceSynchronize();
    cudaFree(a[0]);
    cudaFree(a[1]);
}
