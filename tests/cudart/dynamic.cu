// dynamic.cu: the device runtime called with what it must refuse, and with what no GPU orders for
// certain: copies and events on the device, the limit of pending launches, the older interface.
// nvcc: -rdc=true
// simulated: buffers and handles that were never given out
#include "check.h"

__device__ int total;

__global__ void add(int value)
{
    atomicAdd(&total, value);
}

__global__ void pair(int a, long long b)
{
    atomicAdd(&total, a + (int)b);
}

__global__ void hostile()
{
    printf("no buffer: %d\n", cudaLaunchDeviceV2(0, 0));
    printf("any address: %d\n", cudaLaunchDeviceV2(&total, 0));
    printf("no address of code: %d %d\n", cudaGetParameterBufferV2(&total, 1, 1, 0) == 0,
           cudaGetLastError());
    int *buffer = (int *)cudaGetParameterBufferV2((void *)add, 1, 1, 0);
    *buffer = 1;
    printf("a launch: %d\n", cudaLaunchDeviceV2(buffer, 0));
    printf("the same again: %d\n", cudaLaunchDeviceV2(buffer, 0));
    buffer = (int *)cudaGetParameterBufferV2((void *)add, 1, 1, 0);
    printf("no such stream: %d\n", cudaLaunchDeviceV2(buffer, (cudaStream_t)0x70));
    *buffer = 10;
    printf("then a right one: %d\n", cudaLaunchDeviceV2(buffer, 0));
    buffer = (int *)cudaGetParameterBuffer(8, 8);
    printf("too small: %d\n", cudaLaunchDevice((void *)pair, buffer, 1, 1, 0, 0));
    buffer = (int *)cudaGetParameterBuffer(8, 16);
    buffer[0] = 100;
    buffer[2] = 1000;
    printf("as large: %d\n", cudaLaunchDevice((void *)pair, buffer, 1, 1, 0, 0));
    printf("too large: %d\n", cudaGetParameterBuffer(8, 1 << 20) == 0);
    cudaGetLastError();
    cudaEvent_t none = (cudaEvent_t)0x10000;
    printf("no such event: %d\n", cudaEventRecord(none, 0));
    printf("no memory there: %d\n", cudaMemsetAsync((void *)64, 0, 4, 0));
    cudaGetParameterBufferV2((void *)add, 1, 1, 0); // never launched
}

__global__ void sum(const int *data)
{
    atomicAdd(&total, data[0] + data[15] + data[16] + data[31]);
}

__global__ void moves(int *data)
{
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaMemsetAsync(data, 1, 64, stream);
    cudaMemcpyAsync(data + 16, data, 64, cudaMemcpyDeviceToDevice, stream);
    cudaMemset2DAsync(data + 15, 64, 2, 4, 2, stream);
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(0, event, 0);
    sum<<<1, 1>>>(data);
}

__global__ void spread()
{
    add<<<1, 1>>>(1);
    if (cudaGetLastError() == cudaErrorLaunchPendingCountExceeded)
        atomicAdd(&total, 100000);
    add<<<1, 1>>>(1);
    cudaGetLastError();
}

__global__ void too_many_tails()
{
    for (int i = 0; i < 70; i++)
        add<<<1, 1, 0, cudaStreamTailLaunch>>>(1);
    if (cudaPeekAtLastError() == cudaErrorLaunchPendingCountExceeded)
        add<<<1, 1>>>(1000);
}

__global__ void fails()
{
    *(volatile int *)64 = 1;
}

__global__ void launches_one_that_fails()
{
    fails<<<1, 1>>>();
    add<<<1, 1>>>(1);
}

static int take()
{
    int value, zero = 0;
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpyFromSymbol(&value, total, 4));
    MUST(cudaMemcpyToSymbol(total, &zero, 4));
    return value;
}

int main()
{
    int *data;
    hostile<<<1, 1>>>();
    printf("hostile: %d\n", take());
    MUST(cudaMalloc(&data, 256));
    moves<<<1, 1>>>(data);
    printf("moves: %x\n", take());
    MUST(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 64));
    spread<<<10, 10>>>();
    printf("a hundred threads: %d\n", take());
    too_many_tails<<<1, 1>>>();
    printf("tails: %d\n", take());
    launches_one_that_fails<<<1, 1>>>();
    printf("a child that fails: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
