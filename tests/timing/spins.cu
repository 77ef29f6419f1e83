// spins.cu: kernels that wait: for a clock, asleep, for another block, for a kernel in another stream,
// for the host. Each line: ok or not ok, what waited, how long by events and by the kernel's own
// clock. A simulated second of waiting must take less than a second of the host's time.
#include "between.h"
#include <stdio.h>
#include <thread>
#include <time.h>
#include <unistd.h>

typedef unsigned long long word;

__device__ word globaltimer(void)
{
    word t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}
__global__ void spin_clock(word cycles, word *took)
{
    long long start = clock64();
    while (clock64() - start < (long long)cycles)
        ;
    took[blockIdx.x] = clock64() - start;
}
__global__ void spin_clock_32(word cycles, word *took) // as NVIDIA's samples write it
{
    unsigned start = (unsigned)clock();
    int offset = 0;
    while (offset < (int)cycles) {
        unsigned end = (unsigned)clock();
        offset = (int)(end - start);
    }
    took[blockIdx.x] = offset;
}
__global__ void spin_timer(word ns, word *took)
{
    word start = globaltimer();
    while (globaltimer() - start < ns)
        ;
    took[blockIdx.x] = globaltimer() - start;
}
__global__ void sleep_often(word times, word *took)
{
    word start = globaltimer();
    for (word i = 0; i < times; i++)
        __nanosleep(1000000);
    took[blockIdx.x] = globaltimer() - start;
}
__global__ void wait_for_block(volatile int *flag, float *out, word rounds, word *took, int waits)
{
    word start = globaltimer();
    if (blockIdx.x == waits) {
        while (!*flag)
            ;
    } else {
        float a = 1;
        for (word i = 0; i < rounds; i++)
            a = a * 1.0001f + 1;
        *out = a;
        __threadfence();
        *flag = 1;
    }
    took[blockIdx.x] = globaltimer() - start;
}
__global__ void wait_for_flag(volatile int *flag, int value, int *seen)
{
    while (*flag != value)
        ;
    *seen = value;
}
__global__ void set_flag(volatile int *flag, int value)
{
    *flag = value;
}
/* Each round one of two kernels sets what the other waits for. */
__global__ void take_turns(volatile int *turn, int me, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        while (*turn % 2 != me)
            ;
        *turn = *turn + 1;
    }
}

/* Two warps hand the turn to each other through mbarriers. With pauses, they wait as cuda::barrier does:
 * after some looks asleep, longer each time. */
__device__ void wait_turn(unsigned barrier, unsigned parity, bool pauses)
{
    word start = pauses ? globaltimer() : 0;
    for (int looks = 0;; looks++) {
        unsigned there;
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(there) : "r"(barrier), "r"(parity) : "memory");
        if (there)
            return;
        if (pauses && looks >= 4)
            __nanosleep((unsigned)((globaltimer() - start) / 4 + 10000));
    }
}
__global__ void hand_over(int rounds, bool pauses)
{
    __shared__ alignas(8) word barriers[2];
    unsigned mine = (unsigned)__cvta_generic_to_shared(&barriers[threadIdx.x / 32]);
    unsigned other = (unsigned)__cvta_generic_to_shared(&barriers[1 - threadIdx.x / 32]);
    if (threadIdx.x % 32 == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mine) : "memory");
    __syncthreads();
    for (int i = 0; i < rounds && threadIdx.x % 32 == 0; i++) {
        if (i || threadIdx.x)
            wait_turn(mine, (i - (threadIdx.x == 0)) & 1, pauses);
        asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(other) : "memory");
    }
}

static int bad;

static void line(bool ok, const char *name)
{
    printf("%s %s", ok ? "ok" : "not ok", name);
    bad += !ok;
}

static void check(const char *name, double least_ms, double most_ms, double inner_ms, double cpu, double ms)
{
    bool ok = cudaDeviceSynchronize() == cudaSuccess && ms >= least_ms && ms <= most_ms && inner_ms >= least_ms &&
              inner_ms <= ms && cpu < 1;
    line(ok, name);
    printf(": %.3f ms between events, %.3f in the kernel%s\n", ms, inner_ms, cpu < 1 ? "" : "; too slow");
}

template <typename Launch> static double between(Launch launch, double *cpu)
{
    clock_t start = clock();
    double ms = between(launch);
    *cpu = (double)(clock() - start) / CLOCKS_PER_SEC;
    return ms;
}

int main()
{
    word *took;
    int *flags;
    float *out;
    int khz;
    double cpu, ms;
    cudaMallocManaged(&took, 4096 * sizeof(word));
    cudaMallocManaged(&flags, 64);
    cudaMalloc(&out, 4);
    cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
    ms = between([&] { spin_clock<<<1, 1>>>(2000000000, took); }, &cpu);
    check("clock64, 2e9 cycles", 2e9 / khz, 2e9 / khz * 1.01, (double)took[0] / khz, cpu, ms);
    ms = between([&] { spin_clock<<<264, 128>>>(20000000, took); }, &cpu);
    check("clock64, 264 blocks of 128", 2e7 / khz, 2e7 / khz * 1.05, (double)took[263] / khz, cpu, ms);
    ms = between([&] { spin_clock<<<2, 1024>>>(200000, took); }, &cpu);
    check("clock64, 1024 threads", 2e5 / khz, 2e5 / khz * 1.05 + 0.005, (double)took[0] / khz, cpu, ms);
    ms = between([&] { spin_clock_32<<<1, 1>>>(1000000000, took); }, &cpu);
    check("clock, 1e9 cycles", 1e9 / khz, 1e9 / khz * 1.01, (double)took[0] / khz, cpu, ms);
    ms = between([&] { spin_timer<<<1, 1>>>(1000000000, took); }, &cpu);
    check("globaltimer, 1 s", 1000, 1010, took[0] * 1e-6, cpu, ms);
    ms = between([&] { sleep_often<<<1, 1>>>(1000, took); }, &cpu);
    check("nanosleep, 1000 times 1 ms", 1000, 1010, took[0] * 1e-6, cpu, ms);
    for (int waits = 0; waits < 2; waits++) {
        flags[0] = 0;
        ms = between([&] { wait_for_block<<<2, 1>>>(flags, out, 1000000, took, waits); }, &cpu);
        double worked = took[!waits] * 1e-6;
        check(waits ? "block 1 waits for block 0" : "block 0 waits for block 1", worked * 0.99, 1e9,
              waits ? worked : took[0] * 1e-6, cpu, ms);
    }

    ms = between([&] { hand_over<<<1, 64>>>(1000, false); }, &cpu);
    double paused = between([&] { hand_over<<<1, 64>>>(1000, true); }, &cpu);
    line(cudaDeviceSynchronize() == cudaSuccess && paused < 1.05 * ms && ms < 1.05 * paused && ms > 0.01,
         "pauses between two looks at an mbarrier");
    printf(": %.3f ms without, %.3f with\n", ms, paused);

    cudaStream_t first, second;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    flags[0] = flags[1] = 0;
    wait_for_flag<<<1, 32, 0, first>>>(flags, 7, flags + 1);
    set_flag<<<1, 1, 0, second>>>(flags, 7);
    bool fine = cudaDeviceSynchronize() == cudaSuccess && flags[1] == 7;
    line(fine, "a kernel waits for one in another stream\n");
    flags[0] = 0;
    take_turns<<<1, 1, 0, first>>>(flags, 0, 100);
    take_turns<<<1, 1, 0, second>>>(flags, 1, 100);
    fine = cudaDeviceSynchronize() == cudaSuccess && flags[0] == 200;
    line(fine, "two kernels take turns\n");

    volatile int *shared;
    cudaMallocHost((void **)&shared, 64);
    shared[0] = shared[1] = 0;
    wait_for_flag<<<1, 1>>>((volatile int *)shared, 3, (int *)shared + 1);
    usleep(100000);
    shared[0] = 3;
    fine = cudaDeviceSynchronize() == cudaSuccess && shared[1] == 3;
    line(fine, "a kernel waits for the host\n");
    return bad != 0;
}
