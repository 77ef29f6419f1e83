// with_cuda.cu: the public calls in a CUDA program: its memory, its stream, kernels of its own before
// and after, and another thread that has made no CUDA call yet.
#include <lockstep.h>

#include <stdio.h>
#include <thread>

__global__ void fill(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = (float)(i % 10);
}

__global__ void halve(float *data)
{
    *data /= 2;
}

int main()
{
    const int n = 10000;
    float *data, *sum, result = 0;
    void *workspace;
    size_t bytes;
    cudaStream_t stream;
    cudaMalloc(&data, n * sizeof *data);
    cudaMallocManaged(&sum, sizeof *sum);
    cudaStreamCreate(&stream);
    if (lk_reduce_sum_f32_workspace(n, &bytes) != LK_OK) {
        puts(lk_last_error());
        return 1;
    }
    cudaMalloc(&workspace, bytes);
    fill<<<(n + 255) / 256, 256, 0, stream>>>(data, n);
    lk_status status = lk_reduce_sum_f32(stream, data, n, sum, workspace, bytes);
    halve<<<1, 1, 0, stream>>>(sum);
    cudaMemcpyAsync(&result, sum, sizeof result, cudaMemcpyDefault, stream);
    cudaStreamSynchronize(stream);
    printf("half the sum is %g: %s\n", result, lk_status_text(status));

    std::thread other([&] {
        status = lk_reduce_sum_f32(stream, data, n, sum, workspace, bytes);
        printf("without a context: %s\n", lk_status_text(status));
        cudaSetDevice(0);
        status = lk_reduce_sum_f32(stream, data, n, sum, workspace, bytes);
        cudaStreamSynchronize(stream);
        printf("with one: %g: %s\n", *sum, lk_status_text(status));
    });
    other.join();
    float host[4];
    status = lk_reduce_sum_f32(stream, host, 4, sum, workspace, bytes);
    printf("host memory: %s\n", lk_status_text(status));
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(data);
    cudaFree(sum);
    cudaFree(workspace);
    return 0;
}
