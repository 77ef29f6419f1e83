// race_matrix_load.cu: a fragment is loaded from a tile that other warps are still filling
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void go(const half *a, float *b)
{
    __shared__ __align__(32) half s[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    for (int i = threadIdx.x; i < 256; i += 64)
        s[i] = a[i]; // expect: race
#ifdef FIXED
    __syncthreads();
#endif
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(x, s, 16); // expect-one: race
    wmma::load_matrix_sync(y, s, 16); // expect-one: race
    wmma::mma_sync(sum, x, y, sum);
    if (threadIdx.x < 32)
        wmma::store_matrix_sync(b, sum, 16, wmma::mem_row_major);
}

int main()
{
    half *a;
    float *b;
    cudaMalloc(&a, 512);
    cudaMalloc(&b, 1024);
    cudaMemset(a, 0, 512);
    go<<<1, 64>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
