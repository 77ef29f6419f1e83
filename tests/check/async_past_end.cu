// async_past_end.cu: an asynchronous copy of 16 bytes that starts 8 bytes before the end
#include <cuda_pipeline.h>

__global__ void go(int *a, int *b)
{
    __shared__ int4 s[64];
    int t = threadIdx.x;
#ifdef FIXED
    int from = t * 4;
#else
    int from = t * 4 + 4;
#endif
    __pipeline_memcpy_async(&s[t], &a[from], 16); // expect: out_of_bounds
    __pipeline_commit();
    __pipeline_wait_prior(0);
    b[t] = s[t].w;
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 1024);
    cudaMalloc(&b, 1024);
    cudaMemset(a, 0, 1024);
    cudaMemset(b, 0, 1024);
    go<<<1, 64>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
