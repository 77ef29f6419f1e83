// async_refill.cu: a stage is filled again while other warps still read it
#include <cuda_pipeline.h>

__global__ void go(int *a, int *b)
{
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 3; i++) {
        __pipeline_memcpy_async(&s[t], &a[i * 64 + t], 4); // expect: race
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[(t + 32) & 63]; // expect: race
#ifdef FIXED
        __syncthreads();
#endif
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
