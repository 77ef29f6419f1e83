// streams.cu: order within and between streams, host functions, callbacks, events.
// cuda: 13.0
#include "check.h"
#include <vector>

__global__ void append(int *log, int value)
{
    log[1 + log[0]] = value;
    log[0]++;
}

static void host_append(void *data)
{
    ((std::vector<int> *)data)->push_back(7);
}

static void callback(cudaStream_t stream, cudaError_t status, void *data)
{
    ((std::vector<int> *)data)->push_back(8 + status);
}

int main()
{
    int *log, host[8];
    std::vector<int> called;
    MUST(cudaMalloc(&log, sizeof host));
    MUST(cudaMemset(log, 0, sizeof host));
    cudaStream_t a, b;
    cudaEvent_t first, second;
    MUST(cudaStreamCreate(&a));
    MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&first));
    MUST(cudaEventCreate(&second));
    MUST(cudaEventRecord(first, a));
    append<<<1, 1, 0, a>>>(log, 1);
    append<<<1, 1, 0, a>>>(log, 2);
    MUST(cudaLaunchHostFunc(a, host_append, &called));
    MUST(cudaEventRecord(second, a));
    MUST(cudaStreamWaitEvent(b, second, 0));
    append<<<1, 1, 0, b>>>(log, 3);
    MUST(cudaStreamAddCallback(b, callback, &called, 0));
    MUST(cudaMemcpyAsync(host, log, sizeof host, cudaMemcpyDeviceToHost, b));
    MUST(cudaStreamSynchronize(b));
    printf("log %d: %d %d %d\n", host[0], host[1], host[2], host[3]);
    printf("called %zu: %d %d\n", called.size(), called[0], called[1]);
    float ms = -1;
    MUST(cudaEventSynchronize(second));
    MUST(cudaEventElapsedTime(&ms, first, second));
    printf("time %d\n", ms > 0 && ms < 1000);
    printf("done %d %d %d\n", cudaEventQuery(second), cudaStreamQuery(a), cudaStreamQuery(b));
    unsigned flags;
    int priority, device;
    MUST(cudaStreamGetFlags(b, &flags));
    printf("flags %u\n", flags);
    cudaStream_t urgent;
    MUST(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, -100));
    MUST(cudaStreamGetPriority(urgent, &priority));
    MUST(cudaStreamGetDevice(urgent, &device));
    printf("priority %d device %d\n", priority, device);
    unsigned long long one, two;
    MUST(cudaStreamGetId(a, &one));
    MUST(cudaStreamGetId(b, &two));
    printf("different %d\n", one != two);
    append<<<1, 1>>>(log, 4);
    append<<<1, 1, 0, cudaStreamPerThread>>>(log, 5);
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(host, log, sizeof host, cudaMemcpyDeviceToHost));
    printf("log %d: %d %d\n", host[0], host[4], host[5]);
    MUST(cudaStreamDestroy(a));
    MUST(cudaStreamDestroy(b));
    MUST(cudaStreamDestroy(urgent));
    MUST(cudaEventDestroy(first));
    MUST(cudaEventDestroy(second));
}
