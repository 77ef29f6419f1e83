// async_own_read.cu: a thread reads what it copies before it waits
#include <cuda_pipeline.h>

__global__ void go(int *a, int *b)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &a[t], 4); // expect: race
    __pipeline_commit();
#ifdef FIXED
    __pipeline_wait_prior(0);
#endif
    b[t] = s[t]; // expect: race
    __pipeline_wait_prior(0);
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
