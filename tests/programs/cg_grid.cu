// Cooperative launch: grid.sync through cudaLaunchCooperativeKernel; a one-kernel iterative solver,
// a grid-wide reduction in two phases, launch attributes, the occupancy query that sizes the grid,
// and the error for a grid that cannot be resident.

#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

__global__ void relax(int *a, int *b, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    for (int s = 0; s < steps; s++) {
        for (unsigned i = grid.thread_rank(); i < (unsigned)n; i += grid.size()) {
            int left = i ? a[i - 1] : 1000, right = i + 1 < (unsigned)n ? a[i + 1] : 0;
            b[i] = (left + right) / 2;
        }
        grid.sync();
        int *swap = a;
        a = b;
        b = swap;
    }
}

__global__ void two_phase(const int *in, long long *partial, long long *total, int n)
{
    cg::grid_group grid = cg::this_grid();
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&sum, (unsigned long long)in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        partial[blockIdx.x] = (long long)sum;
    grid.sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *total = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            *total += partial[i];
    }
    grid.sync();
    partial[blockIdx.x] = *total + blockIdx.x;
}

__global__ void many_syncs(int *counter, int *errors, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x == 0)
            atomicAdd(counter, 1);
        grid.sync();
        if (*(volatile int *)counter != (r + 1) * (int)gridDim.x)
            atomicAdd(errors, 1);
        grid.sync();
    }
}

int main()
{
    int device = 0, supported = 0, sms = 0, per_sm = 0;
    cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, relax, 128, 0);
    printf("cooperative launch: %s, fits some blocks: %s\n", supported ? "yes" : "no",
           per_sm > 0 && sms > 0 ? "yes" : "no");

    int n = 500, steps = 30, *a, *b;
    cudaMallocManaged(&a, n * 4);
    cudaMallocManaged(&b, n * 4);
    for (int i = 0; i < n; i++)
        a[i] = b[i] = i * 37 % 1000;
    static int ca[500], cb[500];
    for (int i = 0; i < n; i++)
        ca[i] = a[i];
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++)
            cb[i] = ((i ? ca[i - 1] : 1000) + (i + 1 < n ? ca[i + 1] : 0)) / 2;
        for (int i = 0; i < n; i++)
            ca[i] = cb[i];
    }
    void *args[] = {&a, &b, &n, &steps};
    cudaError_t status = cudaLaunchCooperativeKernel((void *)relax, dim3(4), dim3(64), args);
    printf("launch %s\n", cudaGetErrorName(status));
    status = cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += a[i] != ca[i];
    printf("relax: %d %d %d wrong %d %s\n", a[0], a[250], a[499], wrong, cudaGetErrorName(status));

    int count = 3000, *in;
    long long *partial, *total, expected = 0;
    cudaMallocManaged(&in, count * 4);
    cudaMallocManaged(&partial, 16 * 8);
    cudaMallocManaged(&total, 8);
    for (int i = 0; i < count; i++)
        expected += in[i] = i * i % 1013;
    void *args2[] = {&in, &partial, &total, &count};
    cudaLaunchCooperativeKernel((void *)two_phase, dim3(12), dim3(96), args2);
    status = cudaDeviceSynchronize();
    printf("two phase: %lld expected %lld, block 7 saw %lld, %s\n", *total, expected, partial[7],
           cudaGetErrorName(status));

    int *counter, *errors, rounds = 20;
    cudaMallocManaged(&counter, 4);
    cudaMallocManaged(&errors, 4);
    *counter = *errors = 0;
    void *args3[] = {&counter, &errors, &rounds};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(10);
    config.blockDim = dim3(32);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeCooperative;
    attribute[0].val.cooperative = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    status = cudaLaunchKernelExC(&config, (void *)many_syncs, args3);
    cudaDeviceSynchronize();
    printf("many syncs: counter %d errors %d %s\n", *counter, *errors, cudaGetErrorName(status));

    status = cudaLaunchCooperativeKernel((void *)many_syncs, dim3(1000000), dim3(1024), args3);
    printf("too large: %s\n", cudaGetErrorName(status));
    cudaGetLastError();
    return 0;
}
