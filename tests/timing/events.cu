// events.cu: launches between events, one line each: name, microseconds. tests/timing/run.sh compares
// them with what `lockstep profile` says of the same launches.
#include "between.h"
#include <cuda_fp16.h>
#include <mma.h>
#include <stdio.h>

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
__global__ void matmul(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
__global__ void matmul_tile(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        as[ty][tx] = a[row * n + t + tx];
        bs[ty][tx] = b[(t + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
__global__ void gemm_wmma(const half *a, const half *b, float *c, int n)
{
    using namespace nvcuda::wmma;
    int row = blockIdx.y * 16, column = (blockIdx.x * 4 + threadIdx.x / 32) * 16;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, row_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(fa, a + row * n + k, n);
        load_matrix_sync(fb, b + k * n + column, n);
        mma_sync(fc, fa, fb, fc);
    }
    store_matrix_sync(c + row * n + column, fc, n, mem_row_major);
}
__global__ void reduce(const float *a, float *sum, int n)
{
    __shared__ float part[256];
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += a[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(sum, part[0]);
}
__global__ void spin(long long cycles, long long *took)
{
    long long start = clock64();
    while (clock64() - start < cycles)
        ;
    *took = clock64() - start;
}

static float us(void (*launch)(void))
{
    return 1000 * between(launch);
}

enum { N = 1 << 18, SIDE = 256 };
static float *a, *b, *c;
static long long *took;

int main()
{
    cudaMalloc(&a, N * 4);
    cudaMalloc(&b, N * 4);
    cudaMalloc(&c, N * 4);
    cudaMalloc(&took, 8);
    cudaMemset(a, 0, N * 4);
    cudaMemset(b, 0, N * 4);
    cudaMemset(c, 0, N * 4);
    printf("vector_add %.8g\n", us([] { vector_add<<<N / 256, 256>>>(a, b, c, N); }));
    printf("matmul %.8g\n", us([] { matmul<<<dim3(16, 16), dim3(16, 16)>>>(a, b, c, SIDE); }));
    printf("matmul_tile %.8g\n", us([] { matmul_tile<<<dim3(16, 16), dim3(16, 16)>>>(a, b, c, SIDE); }));
    printf("gemm_wmma %.8g\n", us([] { gemm_wmma<<<dim3(4, 16), 128>>>((half *)a, (half *)b, c, SIDE); }));
    printf("reduce %.8g\n", us([] { reduce<<<64, 256>>>(a, c, N); }));
    printf("spin %.8g\n", us([] { spin<<<1, 1>>>(1000000, took); }));
    printf("two %.8g\n", us([] {
               vector_add<<<N / 256, 256>>>(a, b, c, N);
               reduce<<<64, 256>>>(a, c, N);
           }));
    return cudaDeviceSynchronize();
}
