// right_host.cu: the host and kernels share memory as they may: other bytes of it, flags, pageable
// copies, buffers in turn.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill(int *a, int n)
{
    if (threadIdx.x < n)
        a[threadIdx.x] = threadIdx.x;
}

__global__ void answer(volatile int *flag, int *data, volatile int *done)
{
    while (*flag == 0)
        ;
    data[1] = data[0] * 2;
    __threadfence_system();
    *done = 1;
}

int main()
{
    int *a, *device, *buffers[2], *shared;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    cudaMallocManaged(&a, 4096);
    cudaMalloc(&device, 4096);
    cudaMallocHost(&buffers[0], 4096);
    cudaMallocHost(&buffers[1], 4096);
    cudaHostAlloc(&shared, 4096, cudaHostAllocMapped);
    memset(a, 0, 4096);
    memset(shared, 0, 4096);
    // another part of the same page
    fill<<<1, 64, 0, stream>>>(a, 64);
    for (int i = 64; i < 128; i++)
        a[i] = i;
    cudaStreamSynchronize(stream);
    int total = 0;
    for (int i = 0; i < 128; i++)
        total += a[i];
    // pageable memory may be used again at once
    int *pageable = (int *)malloc(4096);
    memset(pageable, 1, 4096);
    cudaMemcpyAsync(device, pageable, 4096, cudaMemcpyHostToDevice, stream);
    memset(pageable, 2, 4096);
    cudaMemcpyAsync(pageable, device, 4096, cudaMemcpyDeviceToHost, stream);
    total += pageable[0];
    // buffers in turn, each waited for before it is used again
    cudaEvent_t used[2];
    cudaEventCreate(&used[0]);
    cudaEventCreate(&used[1]);
    for (int i = 0; i < 6; i++) {
        if (i >= 2)
            cudaEventSynchronize(used[i % 2]);
        for (int k = 0; k < 1024; k++)
            buffers[i % 2][k] = i;
        cudaMemcpyAsync(device, buffers[i % 2], 4096, cudaMemcpyHostToDevice, stream);
        cudaEventRecord(used[i % 2], stream);
    }
    cudaStreamSynchronize(stream);
    // flags in mapped memory
    answer<<<1, 1, 0, stream>>>(shared, shared + 1, shared + 512);
    shared[1] = 21;
    __sync_synchronize();
    ((volatile int *)shared)[0] = 1;
    while (((volatile int *)shared)[512] == 0)
        ;
    total += shared[2];
    // a host function of the stream comes after the copy before it
    cudaMemcpyAsync(buffers[0], device, 4096, cudaMemcpyDeviceToHost, stream);
    cudaLaunchHostFunc(stream, [](void *buffer) { ((int *)buffer)[0]++; }, buffers[0]);
    cudaDeviceSynchronize();
    printf("%d\n", total);
    free(pageable);
    cudaEventDestroy(used[0]);
    cudaEventDestroy(used[1]);
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    cudaFree(a);
    cudaFree(device);
    cudaFreeHost(buffers[0]);
    cudaFreeHost(buffers[1]);
    cudaFreeHost(shared);
}
