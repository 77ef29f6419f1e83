// flags: -std=c++17 -arch=sm_90
// A kernel waits for a flag, a latch or a semaphore that a kernel of another stream gives it much later,
// or a copy.

#include <cuda/atomic>
#include <cuda/semaphore>

#include <chrono>
#include <cstdio>
#include <thread>

typedef cuda::counting_semaphore<cuda::thread_scope_device> semaphore;
typedef cuda::atomic<int, cuda::thread_scope_device> atomic_int;

__device__ int flag, seen, woken;
__device__ atomic_int word;
__device__ semaphore room;

__global__ void spin()
{
    while (!*(volatile int *)&flag)
        __nanosleep(100);
    atomicAdd(&seen, flag);
}

__global__ void wait()
{
    word.wait(0);
    atomicAdd(&woken, word.load());
}

__global__ void acquire()
{
    room.acquire();
    atomicAdd(&woken, 1);
}

__global__ void set()
{
    flag = 7;
}

__global__ void notify()
{
    word.store(3);
    word.notify_all();
}

__global__ void release()
{
    room.release(64);
}

template <class Kernel>
static void try_kernels(const char *name, Kernel *waits, Kernel *wakes)
{
    cudaStream_t first, second;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    waits<<<2, 32, 0, first>>>();
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    wakes<<<1, 1, 0, second>>>();
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s: %s\n", name, cudaGetErrorName(error));
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}

static void try_copy()
{
    int *there, seven = 7, zero = 0;
    cudaStream_t first, second;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaGetSymbolAddress((void **)&there, flag);
    spin<<<2, 32, 0, first>>>();
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    cudaMemcpyAsync(there, &seven, sizeof seven, cudaMemcpyHostToDevice, second);
    cudaError_t error = cudaDeviceSynchronize();
    printf("copy: %s\n", cudaGetErrorName(error));
    cudaMemcpy(there, &zero, sizeof zero, cudaMemcpyHostToDevice);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}

int main()
{
    int values[2];
    try_copy();
    try_kernels("flag", spin, set);
    try_kernels("atomic wait", wait, notify);
    try_kernels("semaphore", acquire, release);
    cudaMemcpyFromSymbol(&values[0], seen, sizeof(int));
    cudaMemcpyFromSymbol(&values[1], woken, sizeof(int));
    printf("%d %d\n", values[0], values[1]);
    return 0;
}
