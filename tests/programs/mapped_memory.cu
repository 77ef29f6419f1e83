// Pinned and mapped host memory: zero copy reads and writes, registered memory, a kernel that waits
// for a flag that the host sets while it runs, and a ping-pong of several rounds through mapped
// memory.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(status));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void zero_copy(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 3 + 1;
}

__global__ void wait_for_host(volatile int *flag, volatile int *data, int *out)
{
    while (*flag == 0) {
    }
    __threadfence_system();
    *out = *data + 1;
}

__global__ void ping_pong(volatile int *ball, int *log, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        while (*ball != 2 * r + 1) {
        }
        log[r] = *ball;
        __threadfence_system();
        *ball = 2 * r + 2;
    }
}

int main()
{
    int can_map = 0;
    CHECK(cudaDeviceGetAttribute(&can_map, cudaDevAttrCanMapHostMemory, 0));
    printf("can map: %d\n", can_map);
    const int n = 1000;
    int *in, *out, *din, *dout;
    CHECK(cudaHostAlloc(&in, n * 4, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    CHECK(cudaHostAlloc(&out, n * 4, cudaHostAllocMapped));
    for (int i = 0; i < n; i++)
        in[i] = i;
    CHECK(cudaHostGetDevicePointer(&din, in, 0));
    CHECK(cudaHostGetDevicePointer(&dout, out, 0));
    zero_copy<<<8, 128>>>(din, dout, n);
    CHECK(cudaDeviceSynchronize());
    long long sum = 0;
    for (int i = 0; i < n; i++)
        sum += out[i];
    printf("zero copy: %d %d sum %lld\n", out[0], out[999], sum);

    int *plain = (int *)aligned_alloc(4096, 8192), *mapped;
    for (int i = 0; i < 2048; i++)
        plain[i] = 2 * i;
    CHECK(cudaHostRegister(plain, 8192, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&mapped, plain, 0));
    zero_copy<<<8, 128>>>(mapped, mapped + 1024, 1000);
    CHECK(cudaDeviceSynchronize());
    printf("registered: %d %d %d\n", plain[1024], plain[1024 + 999], plain[1024 + 1001]);
    unsigned flags;
    CHECK(cudaHostGetFlags(&flags, out));
    printf("flags mapped: %s\n", flags & cudaHostAllocMapped ? "yes" : "no");
    CHECK(cudaHostUnregister(plain));
    printf("again: %s\n", cudaGetErrorName(cudaHostUnregister(plain)));
    cudaGetLastError();

    volatile int *flag = out, *data = out + 1;
    *flag = 0;
    *data = 0;
    int *result;
    CHECK(cudaMalloc(&result, 4));
    wait_for_host<<<1, 1>>>(dout, dout + 1, result);
    CHECK(cudaGetLastError());
    cudaError_t early = cudaStreamQuery(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    *data = 41;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    *flag = 1;
    CHECK(cudaDeviceSynchronize());
    int value;
    CHECK(cudaMemcpy(&value, result, 4, cudaMemcpyDeviceToHost));
    printf("kernel waited (%s) and saw %d\n", cudaGetErrorName(early), value);

    const int rounds = 10;
    volatile int *ball = out;
    *ball = 0;
    int *log;
    CHECK(cudaMallocManaged(&log, rounds * 4));
    ping_pong<<<1, 1>>>(dout, log, rounds);
    for (int r = 0; r < rounds; r++) {
        *ball = 2 * r + 1;
        while (*ball != 2 * r + 2)
            std::this_thread::yield();
    }
    CHECK(cudaDeviceSynchronize());
    printf("ping-pong:");
    for (int r = 0; r < rounds; r++)
        printf(" %d", log[r]);
    printf("\n");
    return 0;
}
