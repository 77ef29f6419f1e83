/*
 * tour.cu: an ordinary CUDA program for `make tour`: sums the squares of 0..n-1 on the GPU.
 * Threads add into shared memory, one thread of each block adds to the total.
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void sum_squares(const float *values, int n, double *total)
{
    __shared__ float partial[256];
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    float value = index < n ? values[index] : 0.0f;
    partial[threadIdx.x] = value * value;
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride)
            partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0)
        atomicAdd(total, (double)partial[0]);
}

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    printf("%s, %d SMs\n", device.name, device.multiProcessorCount);

    float *host = (float *)malloc(n * sizeof(float)), *values; // [n]
    double *total, sum = 0, expected = 0;
    for (int i = 0; i < n; i++) {
        host[i] = (float)(i % 100);
        expected += (double)host[i] * host[i];
    }
    CHECK(cudaMalloc(&values, n * sizeof(float)));
    CHECK(cudaMalloc(&total, sizeof(double)));
    CHECK(cudaMemcpy(values, host, n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(total, 0, sizeof(double)));
    sum_squares<<<(n + 255) / 256, 256>>>(values, n, total);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&sum, total, sizeof(double), cudaMemcpyDeviceToHost));
    printf("%d squares sum to %.0f: %s\n", n, sum, sum == expected ? "right" : "WRONG");
    return sum != expected;
}
