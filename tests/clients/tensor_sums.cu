// tensor_sums.cu: products of 16-bit matrices by cublasGemmEx, with sums in f32: a line with a hash of
// each result. tensor_sums.expect is what cuBLAS 13.0 printed on an H200, whose tensor cores cut what
// they add. Shapes with a size that is no multiple of 8 are not here: cuBLAS has other kernels for some.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdio.h>
#include <vector>

static unsigned state = 1;

static float random_float(void)
{
    state = state * 1664525u + 1013904223u;
    return (float)((int)(state >> 8) - (1 << 23)) * (1.0f / (1 << 22));
}

template <typename T> static void product(cublasHandle_t handle, const int *size, bool transpose_a, bool transpose_b,
                                          cudaDataType type, bool wide)
{
    const int m = size[0], n = size[1], k = size[2];
    std::vector<T> a((size_t)m * k), b((size_t)k * n);
    std::vector<unsigned char> c((size_t)m * n * (wide ? 4 : 2));
    for (T &x : a)
        x = T(random_float());
    for (T &x : b)
        x = T(random_float());
    void *device_a, *device_b, *device_c;
    cudaMalloc(&device_a, a.size() * 2);
    cudaMalloc(&device_b, b.size() * 2);
    cudaMalloc(&device_c, c.size());
    cudaMemcpy(device_a, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(device_b, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
    const float one = 1, zero = 0;
    int status = cublasGemmEx(handle, transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                              m, n, k, &one, device_a, type, transpose_a ? k : m, device_b, type, transpose_b ? n : k,
                              &zero, device_c, wide ? CUDA_R_32F : type, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    cudaMemcpy(c.data(), device_c, c.size(), cudaMemcpyDeviceToHost);
    unsigned long long hash = 1469598103934665603ull;
    for (unsigned char byte : c)
        hash = (hash ^ byte) * 1099511628211ull;
    printf("%s %d%d m%d n%d k%d out%s status %d hash %016llx\n", type == CUDA_R_16BF ? "bf16" : "f16", transpose_a,
           transpose_b, m, n, k, wide ? "f32" : "same", status, hash);
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(device_c);
}

int main()
{
    static const int sizes[][3] = {{64, 64, 64}, {128, 128, 128}, {256, 256, 256}, {512, 512, 512}};
    cublasHandle_t handle;
    cublasCreate(&handle);
    for (const int *size : sizes)
        for (int wide = 0; wide < 2; wide++) {
            product<__nv_bfloat16>(handle, size, !wide, false, CUDA_R_16BF, wide);
            product<__half>(handle, size, !wide, wide, CUDA_R_16F, wide);
        }
    cublasDestroy(handle);
}
