// free_twice_async.cu: a pool allocation is freed twice in its stream
__global__ void fill(int *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main()
{
    int *a;
    cudaMallocAsync(&a, 1024, 0);
    fill<<<4, 64>>>(a);
    cudaFreeAsync(a, 0);
#ifndef FIXED
    cudaFreeAsync(a, 0); // expect: invalid_free
#endif
    cudaDeviceSynchronize();
}
