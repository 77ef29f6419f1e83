// async_source.cu: the source of a copy is written by another block in the same launch
#include <cuda_pipeline.h>

__global__ void go(int *a, int *b)
{
    __shared__ int s[32];
    int t = threadIdx.x;
#ifdef FIXED
    int *from = b + 64;
#else
    int *from = a;
#endif
    if (blockIdx.x == 0) {
        a[t] = t; // expect: race
        return;
    }
    __pipeline_memcpy_async(&s[t], &from[t], 4); // expect: race
    __pipeline_commit();
    __pipeline_wait_prior(0);
    b[t] = s[t];
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<2, 32>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
