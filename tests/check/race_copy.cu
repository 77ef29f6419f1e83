// race_copy.cu: an asynchronous copy is read before it was waited for.
#include <cuda_pipeline.h>

__global__ void load(const int *in, int *out)
{
    __shared__ int tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4); // expect: race
    __pipeline_commit();
#ifdef FIXED
    __pipeline_wait_prior(0);
#endif
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x]; // expect: race
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    load<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
