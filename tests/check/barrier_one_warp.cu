// barrier_one_warp.cu: only the first warp of two comes to the barrier.
__global__ void fill(int *a)
{
    a[threadIdx.x] = 1;
#ifndef FIXED
    if (threadIdx.x < 32)
#endif
        __syncthreads(); // expect: barrier
    a[64 + threadIdx.x] = 2;
}

int main()
{
    int *a;
    cudaMalloc(&a, 128 * sizeof(int));
    fill<<<1, 64>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
