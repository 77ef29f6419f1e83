// async_wait_one.cu: the last tile of a pipeline is waited for with one group still on its way
#include <cuda_pipeline.h>

__global__ void go(int *a, int *b)
{
    __shared__ int s[2][64];
    int t = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&s[0][t], &a[t], 4);
    __pipeline_commit();
    for (int i = 0; i < 4; i++) {
        if (i < 3) {
            __pipeline_memcpy_async(&s[(i + 1) & 1][t], &a[(i + 1) * 64 + t], 4); // expect-one: race
            __pipeline_commit();
        }
#ifdef FIXED
        __pipeline_wait_prior(i < 3 ? 1 : 0);
#else
        __pipeline_wait_prior(1);
#endif
        __syncthreads();
        sum += s[i & 1][63 - t]; // expect: race
        __syncthreads();
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
