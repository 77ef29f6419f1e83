// race_partials.cu: the first warp adds the other warps' sums with no barrier after they are stored
__global__ void go(int *a, int *b)
{
    __shared__ int part[8];
    int t = threadIdx.x, x = a[t];
    for (int d = 16; d; d /= 2)
        x += __shfl_down_sync(~0u, x, d);
    if (t % 32 == 0)
        part[t / 32] = x; // expect: race
#ifdef FIXED
    __syncthreads();
#endif
    if (t < 8)
        atomicAdd(b, part[t]); // expect: race
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<1, 256>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
