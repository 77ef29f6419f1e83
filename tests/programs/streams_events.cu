// Streams and events: chunked copy-compute-copy in several streams with pinned memory, an event
// that makes one stream wait for another, the legacy and the per-thread default stream, a host
// callback in order, priorities, queries, elapsed times that are positive and ordered (not
// printed).

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(status));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void work(int *data, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = (unsigned)data[i];
    for (int r = 0; r < rounds; r++)
        v = v * 1664525u + 1013904223u;
    data[i] = (int)v;
}

__global__ void add(int *data, int value)
{
    data[threadIdx.x] += value;
}

static std::atomic<int> calls;
static int call_values[4];

static void callback(void *user)
{
    call_values[calls++] = *(int *)user;
}

static void CUDART_CB old_callback(cudaStream_t, cudaError_t status, void *user)
{
    *(int *)user = status == cudaSuccess ? 1 : 2;
}

static const int n = 1 << 14, chunks = 4, size = n / chunks;
static cudaStream_t streams[chunks];

static void in_chunks(const int *host, int *result, int *device)
{
    for (int c = 0; c < chunks; c++) {
        int at = c * size;
        CHECK(
            cudaMemcpyAsync(device + at, host + at, size * 4, cudaMemcpyHostToDevice, streams[c]));
        work<<<size / 128, 128, 0, streams[c]>>>(device + at, size, 10);
        CHECK(cudaMemcpyAsync(result + at, device + at, size * 4, cudaMemcpyDeviceToHost,
                              streams[c]));
    }
    for (auto &stream : streams)
        CHECK(cudaStreamSynchronize(stream));
    int wrong = 0;
    unsigned hash = 0;
    for (int i = 0; i < n; i++) {
        unsigned v = (unsigned)i;
        for (int r = 0; r < 10; r++)
            v = v * 1664525u + 1013904223u;
        wrong += v != (unsigned)result[i];
        hash = hash * 31 + (unsigned)result[i];
    }
    printf("chunks: %d %d hash %08x wrong %d\n", result[0], result[n - 1], hash, wrong);
}

static void wait_for_an_event(int *device)
{
    // Stream 1 waits for stream 0 through an event.
    cudaEvent_t ready, start, stop;
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMemset(device, 0, 64 * 4));
    CHECK(cudaEventRecord(start, streams[0]));
    for (int i = 0; i < 10; i++)
        add<<<1, 64, 0, streams[0]>>>(device, 1);
    CHECK(cudaEventRecord(ready, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], ready, 0));
    work<<<1, 64, 0, streams[1]>>>(device, 64, 1);
    CHECK(cudaEventRecord(stop, streams[1]));
    CHECK(cudaEventSynchronize(stop));
    int first;
    CHECK(cudaMemcpy(&first, device, 4, cudaMemcpyDeviceToHost));
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    printf("after the event: %d %s, elapsed positive: %s\n", first,
           (unsigned)first == 10 * 1664525u + 1013904223u ? "right" : "WRONG",
           ms > 0 ? "yes" : "no");
    printf("elapsed without timing: %s\n",
           cudaGetErrorName(cudaEventElapsedTime(&ms, ready, stop)));
    printf("query: stream %s event %s\n", cudaGetErrorName(cudaStreamQuery(streams[1])),
           cudaGetErrorName(cudaEventQuery(stop)));
    CHECK(cudaEventDestroy(ready));
}

static void host_functions(int *device)
{
    // Host functions run in the stream's order.
    int one = 11, two = 22, old = 0;
    CHECK(cudaLaunchHostFunc(streams[2], callback, &one));
    add<<<1, 64, 0, streams[2]>>>(device, 5);
    CHECK(cudaLaunchHostFunc(streams[2], callback, &two));
    CHECK(cudaStreamAddCallback(streams[2], old_callback, &old, 0));
    CHECK(cudaStreamSynchronize(streams[2]));
    printf("callbacks: %d %d %d, old one %d\n", calls.load(), call_values[0], call_values[1], old);
}

static void legacy_stream(int *device)
{
    // The legacy default stream waits for the others and they for it.
    int first;
    CHECK(cudaMemset(device, 0, 64 * 4));
    add<<<1, 64, 0, streams[3]>>>(device, 7);
    add<<<1, 64>>>(device, 100);
    work<<<1, 64, 0, streams[0]>>>(device, 64, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&first, device, 4, cudaMemcpyDeviceToHost));
    printf("default stream: %s\n",
           (unsigned)first == 107 * 1664525u + 1013904223u ? "ordered" : "WRONG");
}

static void priorities(int *device)
{
    int least, greatest, priority, first;
    cudaStream_t urgent;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    CHECK(cudaStreamGetPriority(urgent, &priority));
    unsigned flags;
    CHECK(cudaStreamGetFlags(urgent, &flags));
    printf("priorities: least %d, greatest below: %s, kept: %s, flags %u\n", least,
           greatest < least ? "yes" : "no", priority == greatest ? "yes" : "no", flags);
    CHECK(cudaMemsetAsync(device, 0x01, 64 * 4, urgent));
    add<<<1, 64, 0, urgent>>>(device, 1);
    CHECK(cudaMemcpyAsync(&first, device + 63, 4, cudaMemcpyDefault, urgent));
    CHECK(cudaStreamSynchronize(urgent));
    printf("async memset and add: %08x\n", first);
    add<<<1, 64, 0, cudaStreamPerThread>>>(device, 1);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK(cudaMemcpy(&first, device, 4, cudaMemcpyDeviceToHost));
    printf("per-thread stream: %08x\n", first);
    CHECK(cudaStreamDestroy(urgent));
}

int main()
{
    int *host, *result, *device;
    CHECK(cudaMallocHost(&host, n * 4));
    CHECK(cudaHostAlloc(&result, n * 4, cudaHostAllocDefault));
    CHECK(cudaMalloc(&device, n * 4));
    for (int i = 0; i < n; i++)
        host[i] = i;
    for (auto &stream : streams)
        CHECK(cudaStreamCreate(&stream));
    in_chunks(host, result, device);
    wait_for_an_event(device);
    host_functions(device);
    legacy_stream(device);
    priorities(device);
    for (auto &stream : streams)
        CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFreeHost(result));
    CHECK(cudaFree(device));
    return 0;
}
