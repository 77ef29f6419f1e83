// flags: -std=c++17 -arch=sm_90
// Waits that look hopeless and end: by a thread that counts for long first, by the host,
// by the clock. All of them do nothing but poll for a while; none is a deadlock.

#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>

#include <chrono>
#include <cstdio>
#include <new>
#include <thread>

enum { COUNT = 10000000, BLOCKS = 24 };

typedef cuda::atomic<int, cuda::thread_scope_system> shared_flag;

__device__ int flag, tickets, serving, served;
__device__ unsigned sums[BLOCKS], arrived;

__device__ unsigned compute(unsigned x)
{
    for (int i = 0; i < COUNT; i++)
        x = (x ^ x >> 15) * 0x2c1b3c6du;
    return x | 1;
}

__device__ bool is_last()
{
    return blockIdx.x == gridDim.x - 1;
}

// A pause that grows up to a bound, and one that follows the clock.
__global__ void back_off()
{
    if (is_last()) {
        unsigned x = compute(threadIdx.x);
        if (threadIdx.x == 0)
            atomicExch(&flag, x != 0);
        return;
    }
    unsigned pause = 8;
    while (!*(volatile int *)&flag) {
        __nanosleep(pause);
        pause = pause < 256 ? 2 * pause : pause;
    }
}

__global__ void clock_back_off()
{
    if (is_last()) {
        unsigned x = compute(threadIdx.x);
        if (threadIdx.x == 0)
            atomicExch(&flag, x != 0);
        return;
    }
    long long start = clock64();
    while (!*(volatile int *)&flag)
        if (clock64() - start > 1000)
            __nanosleep((unsigned)(clock64() - start) / 4);
}

// Loads that look like any other.
__global__ void cached_loads()
{
    if (is_last()) {
        unsigned x = compute(threadIdx.x);
        if (threadIdx.x == 0)
            atomicExch(&flag, x != 0);
        return;
    }
    while (!__ldcg(&flag))
        __threadfence();
}

__global__ void latch(int *out)
{
    __shared__ alignas(cuda::latch<cuda::thread_scope_block>) char memory[sizeof(cuda::latch<cuda::thread_scope_block>)];
    auto *gate = reinterpret_cast<cuda::latch<cuda::thread_scope_block> *>(memory);
    if (threadIdx.x == 0)
        new (gate) cuda::latch<cuda::thread_scope_block>(1);
    __syncthreads();
    if (threadIdx.x == 96 && compute(blockIdx.x))
        gate->count_down();
    gate->wait();
    atomicAdd(out, 1);
}

__global__ void ticket_lock()
{
    if (threadIdx.x % 32)
        return;
    int mine = atomicAdd(&tickets, 1);
    while (*(volatile int *)&serving != mine)
        __nanosleep(20);
    __threadfence();
    served += (compute(mine) != 0);
    __threadfence();
    atomicExch(&serving, mine + 1);
}

__global__ void look_back()
{
    if (threadIdx.x)
        return;
    unsigned before = 0;
    if (blockIdx.x == 0)
        before = compute(0) != 0;
    else
        while (!(before = *(volatile unsigned *)&sums[blockIdx.x - 1]))
            continue;
    *(volatile unsigned *)&sums[blockIdx.x] = before + 1;
}

__global__ void grid_barrier()
{
    for (unsigned round = 1; round <= 3; round++) {
        unsigned x = blockIdx.x == round ? compute(round) : 1;
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(&arrived, x != 0);
            while (*(volatile unsigned *)&arrived < round * gridDim.x)
                continue;
        }
        __syncthreads();
    }
}

__global__ void wait_for(shared_flag *word, int *out)
{
    word->wait(0);
    if (threadIdx.x == 0)
        *out = word->load();
}

__global__ void acquire(cuda::counting_semaphore<cuda::thread_scope_system> *room, int *out)
{
    room->acquire();
    atomicAdd(out, 1);
}

// Nobody sets the flag: the time is up.
__global__ void give_up(int *out)
{
    long long start = clock64(), limit = 20000000;
    int rounds = 0;
    while (!*(volatile int *)&flag && clock64() - start < limit)
        rounds = 1;
    out[threadIdx.x] = rounds + (clock64() - start >= limit);
}

static int zero = 0;

static void show(const char *name, int value, int wanted)
{
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s: %s, %s\n", name, value == wanted ? "right" : "wrong", cudaGetErrorName(error));
    cudaMemcpyToSymbol(flag, &zero, sizeof zero);
}

static int value_of(const int *device)
{
    int value = -1;
    cudaMemcpy(&value, device, sizeof value, cudaMemcpyDefault);
    return value;
}

static void let_it_wait()
{
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
}

static void in_the_grid()
{
    int *out, value;
    cudaMalloc(&out, 128 * sizeof *out);
    cudaMemset(out, 0, 128 * sizeof *out);
    back_off<<<BLOCKS, 64>>>();
    show("pauses that grow", 1, 1);
    clock_back_off<<<BLOCKS, 64>>>();
    show("pauses by the clock", 1, 1);
    cached_loads<<<4, 64>>>();
    show("cached loads", 1, 1);
    latch<<<2, 128>>>(out);
    show("latch", value_of(out), 256);
    ticket_lock<<<4, 96>>>();
    cudaMemcpyFromSymbol(&value, served, sizeof value);
    show("tickets", value, 12);
    look_back<<<BLOCKS, 32>>>();
    cudaMemcpyFromSymbol(&value, sums, sizeof value, (BLOCKS - 1) * sizeof value);
    show("look-back", value, BLOCKS + 1);
    grid_barrier<<<BLOCKS, 64>>>();
    cudaMemcpyFromSymbol(&value, arrived, sizeof value);
    show("grid barrier", value, 3 * BLOCKS);
    give_up<<<2, 32>>>(out);
    show("time limit", value_of(out), 2);
    cudaFree(out);
}

static void from_outside()
{
    int *out;
    cudaMalloc(&out, sizeof *out);
    cudaStream_t first;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);

    shared_flag *mapped;
    cudaHostAlloc(&mapped, sizeof *mapped, cudaHostAllocMapped);
    new (mapped) shared_flag(0);
    wait_for<<<2, 64, 0, first>>>(mapped, out);
    let_it_wait();
    mapped->store(5);
    mapped->notify_all();
    cudaStreamSynchronize(first);
    show("mapped memory", value_of(out), 5);

    cuda::counting_semaphore<cuda::thread_scope_system> *room;
    cudaMallocManaged(&room, sizeof *room);
    new (room) cuda::counting_semaphore<cuda::thread_scope_system>(0);
    cudaMemsetAsync(out, 0, sizeof *out, first);
    acquire<<<1, 32, 0, first>>>(room, out);
    let_it_wait();
    room->release(32);
    cudaStreamSynchronize(first);
    show("semaphore", value_of(out), 32);
    cudaStreamDestroy(first);
    cudaFreeHost(mapped);
    cudaFree(room);
    cudaFree(out);
}

int main()
{
    in_the_grid();
    from_outside();
    return 0;
}
