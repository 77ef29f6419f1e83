// launch.cu: the ways to launch, parameters of all sizes, kernel attributes.
// cuda: 13.0
#include "check.h"
#include <cooperative_groups.h>

struct big {
    char c;
    double d[5];
    short s;
};

__global__ void parameters(char a, short b, int c, long long d, float e, double f, big g, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        out[0] = a + b + c + (int)d + (int)e + (int)f + g.c + (int)g.d[4] + g.s;
    if (i == gridDim.x * blockDim.x - 1)
        out[1] = i;
}

template <typename T> __global__ void fill(T *out, T value, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = value;
}

__global__ void dynamic(int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < blockDim.x; i++)
            sum += words[i];
        out[0] = sum;
    }
}

__global__ void grid_sum(int *values, int *out)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    values[grid.thread_rank()] = (int)grid.thread_rank();
    grid.sync();
    if (grid.thread_rank() == 0) {
        int sum = 0;
        for (unsigned i = 0; i < grid.size(); i++)
            sum += values[i];
        out[0] = sum;
    }
}

__global__ void __launch_bounds__(64) bounded(int *out)
{
    out[0] = 1;
}

static int read(int *p)
{
    int value = -1;
    MUST(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    return value;
}

static void attributes()
{
    cudaFuncAttributes a;
    MUST(cudaFuncGetAttributes(&a, dynamic));
    printf("threads %d, registers %d, dynamic %d, static %zu\n", a.maxThreadsPerBlock,
           a.numRegs > 0, a.maxDynamicSharedSizeBytes, a.sharedSizeBytes);
    MUST(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    MUST(cudaFuncGetAttributes(&a, dynamic));
    printf("dynamic %d\n", a.maxDynamicSharedSizeBytes);
    MUST(cudaFuncGetAttributes(&a, bounded));
    printf("bounded %d\n", a.maxThreadsPerBlock);
    const char *name;
    MUST(cudaFuncGetName(&name, (const void *)bounded));
    printf("%s\n", name);
    size_t offset, size;
    MUST(cudaFuncGetParamInfo((const void *)parameters, 6, &offset, &size));
    printf("parameter 6 at %zu, %zu bytes\n", offset, size);
    int blocks, minimum, best;
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 1024, 0));
    printf("blocks an SM %d\n", blocks);
    MUST(cudaOccupancyMaxPotentialBlockSize(&minimum, &best, bounded, 0, 0));
    printf("best block %d\n", best);
    size_t shared;
    MUST(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, dynamic, 2, 64));
    printf("shared for two blocks %d\n", shared > 90000);
}

static void limits(int *out)
{
    LAUNCHED((bounded<<<0, 1>>>(out)));
    LAUNCHED((bounded<<<1, 0>>>(out)));
    LAUNCHED((bounded<<<1, 1025>>>(out)));
    LAUNCHED((bounded<<<1, 65>>>(out)));
    LAUNCHED((bounded<<<dim3(1, 65536), 1>>>(out)));
    LAUNCHED((bounded<<<1, 1, 49153>>>(out)));
    LAUNCHED((bounded<<<1, 1, 1000000>>>(out)));
    void *arguments[] = {&out, &out};
    SHOW(cudaLaunchCooperativeKernel(grid_sum, 100000, 1024, arguments, 0, 0));
}

int main()
{
    int *out;
    MUST(cudaMalloc(&out, 1 << 16));
    big g = {1, {0, 0, 0, 0, 5.5}, 3};
    parameters<<<dim3(3), dim3(7)>>>(1, 2, 3, 4, 5.5f, 6.5, g, out);
    MUST(cudaGetLastError());
    printf("parameters %d %d\n", read(out), read(out + 1));
    fill<<<4, 32>>>(out, 42, 1000);
    printf("template %d %d\n", read(out), read(out + 999));
    fill<float><<<1, 32>>>((float *)out, 1.0f, 10);
    printf("template %x %d\n", read(out), read(out + 10));
    dynamic<<<1, 100, 400>>>(out);
    printf("dynamic %d\n", read(out));
    MUST(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    dynamic<<<1, 100, 100000>>>(out);
    printf("dynamic %d\n", read(out));
    int *values = out + 1000;
    void *arguments[] = {&values, &out};
    MUST(cudaLaunchCooperativeKernel(grid_sum, 4, 64, arguments, 0, 0));
    printf("cooperative %d\n", read(out));
    cudaLaunchConfig_t config = {};
    config.gridDim = 2;
    config.blockDim = 16;
    config.dynamicSmemBytes = 64;
    MUST(cudaLaunchKernelEx(&config, dynamic, out));
    printf("configured %d\n", read(out));
    cudaKernel_t kernel;
    int eight = 8, n = 5;
    void *again[] = {&out, &eight, &n};
    MUST(cudaGetKernel(&kernel, (const void *)fill<int>));
    MUST(cudaLaunchKernel((const void *)kernel, 1, 32, again, 0, 0));
    printf("by handle %d\n", read(out + 4));
    cudaFunction_t function;
    MUST(cudaGetFuncBySymbol(&function, (const void *)fill<int>));
    eight = 9;
    MUST(cudaLaunchKernel((const void *)function, 1, 32, again, 0, 0));
    printf("by function %d\n", read(out + 4));
    attributes();
    limits(out);
    MUST(cudaDeviceSynchronize());
}
