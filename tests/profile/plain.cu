// Kernels with known counters, for the shape of the report.
#include <cstdio>
#include <cstdlib>

__global__ void scale(float *data, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * factor; // <- hot
}

template <int THREADS> __global__ void sum(float *out, const float *in)
{
    __shared__ float values[THREADS];
    values[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
    for (int k = THREADS / 2; k; k /= 2) {
        __syncthreads();
        if (threadIdx.x < k)
            values[threadIdx.x] += values[threadIdx.x + k];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = values[0];
}

namespace tools
{
template <class T, int N> __global__ void fill(T *out)
{
    out[threadIdx.x] = N;
}
} // namespace tools

int main(int count, char **words)
{
    int n = count > 1 ? atoi(words[1]) : 1 << 20;
    float *data, *out;
    cudaMalloc(&data, (1 << 20) * sizeof(float));
    cudaMalloc(&out, 4096 * sizeof(float));
    printf("plain says hello\n");
    scale<<<n / 256, 256>>>(data, 2, n);
    for (int k = 0; k < 2; k++)
        sum<256><<<16, 256>>>(out, data);
    tools::fill<float, 3><<<1, 32>>>(out);
    return cudaDeviceSynchronize();
}
