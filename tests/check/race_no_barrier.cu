// race_no_barrier.cu: the barrier between writing and reading a tile is missing.
__global__ void reverse(int *a)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = a[threadIdx.x]; // expect: race
#ifdef FIXED
    __syncthreads();
#endif
    a[threadIdx.x] = tile[127 - threadIdx.x]; // expect: race
}

int main()
{
    int *a;
    cudaMalloc(&a, 128 * sizeof(int));
    cudaMemset(a, 0, 128 * sizeof(int));
    reverse<<<1, 128>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
