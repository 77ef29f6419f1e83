// SAXPY the blog way: managed memory, a grid-stride loop, several launch shapes for one kernel,
// then the float4 and double forms. Values are small integers, so every result is exact.

#include <cmath>
#include <cstdio>

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}

__global__ void saxpy4(int n4, float a, const float4 *x, float4 *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4)
        return;
    float4 u = x[i], v = y[i];
    v.x += a * u.x;
    v.y += a * u.y;
    v.z += a * u.z;
    v.w += a * u.w;
    y[i] = v;
}

__global__ void daxpy(int n, double a, const double *__restrict__ x, double *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fma(a, __ldg(x + i), y[i]);
}

int main()
{
    const int n = 1 << 15;
    float *x, *y;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));

    const int shapes[][2] = {{1, 1024}, {4, 256}, {n / 256, 256}, {n / 128 + 5, 128}, {7, 37}};
    for (auto &shape : shapes) {
        for (int i = 0; i < n; i++) {
            x[i] = (float)(i % 64);
            y[i] = (float)(i % 17);
        }
        saxpy<<<shape[0], shape[1]>>>(n, 3.0f, x, y);
        cudaDeviceSynchronize();
        float error = 0;
        double sum = 0;
        for (int i = 0; i < n; i++) {
            error = fmaxf(error, fabsf(y[i] - (3.0f * (i % 64) + i % 17)));
            sum += y[i];
        }
        printf("saxpy <<<%d, %d>>> max error %g sum %.0f\n", shape[0], shape[1], error, sum);
    }
    saxpy4<<<n / 4 / 64, 64>>>(n / 4, 2.0f, (const float4 *)x, (float4 *)y);
    cudaDeviceSynchronize();
    printf("saxpy4 y[0..7] =");
    for (int i = 0; i < 8; i++)
        printf(" %g", y[i]);
    printf(" y[n-1] = %g\n", y[n - 1]);

    double *dx, *dy, hx[100], hy[100];
    for (int i = 0; i < 100; i++) {
        hx[i] = i / 3.0;
        hy[i] = 1.0 / (i + 1);
    }
    cudaMalloc(&dx, sizeof hx);
    cudaMalloc(&dy, sizeof hy);
    cudaMemcpy(dx, hx, sizeof hx, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, hy, sizeof hy, cudaMemcpyHostToDevice);
    daxpy<<<2, 64>>>(100, 1.5, dx, dy);
    double out[100];
    cudaMemcpy(out, dy, sizeof out, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < 100; i++)
        wrong += out[i] != std::fma(1.5, hx[i], hy[i]);
    printf("daxpy wrong %d out[1]=%.17g out[99]=%.17g\n", wrong, out[1], out[99]);
    printf("last error: %s\n", cudaGetErrorName(cudaGetLastError()));
    cudaFree(x);
    cudaFree(y);
    cudaFree(dx);
    cudaFree(dy);
    return 0;
}
