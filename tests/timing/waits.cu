// waits.cu: a clock read around waits for the block's own units (cp.async, an mbarrier, products of a
// warpgroup) must count neither the turns of other warps nor those of other blocks: a wait of many
// blocks, four on an SM, is not much longer than one block's, nor the launch than without the clock.
// flags: -gencode arch=compute_90a,code=[sm_90a,compute_90a]
#include "between.h"
#include <cstdint>
#include <stdio.h>

enum { THREADS = 128, ROUNDS = 16, FEW = 1, MANY = 528 };

__device__ uint32_t shared_address(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

struct copies { // each thread waits for its own
    static __device__ void wait(const int *from, uint64_t *bar, int *into, int)
    {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n"
                     "cp.async.commit_group;\n"
                     "cp.async.wait_group 0;" ::"r"(shared_address(into + threadIdx.x)),
                     "l"(from + threadIdx.x)
                     : "memory");
        __syncthreads();
    }
};

struct mbarriers { // all wait for all, with a pause between two looks
    static __device__ void wait(const int *, uint64_t *bar, int *, int round)
    {
        unsigned done = 0;
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
        while (!done) {
            asm volatile("{ .reg .pred p;\n"
                         "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, p; }"
                         : "=r"(done)
                         : "r"(shared_address(bar)), "r"(round & 1)
                         : "memory");
            if (!done)
                __nanosleep(1000);
        }
    }
};

struct products {
    static __device__ void wait(const int *, uint64_t *bar, int *into, int)
    {
        float sum[4] = {0, 0, 0, 0};
        uint64_t tile = (shared_address(into) & 0x3ffff) >> 4 | (uint64_t)8 << 16 | (uint64_t)8 << 32;
        asm volatile("wgmma.fence.sync.aligned;\n"
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;\n"
                     "wgmma.commit_group.sync.aligned;\n"
                     "wgmma.wait_group.sync.aligned 0;"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "l"(tile)
                     : "memory");
        __syncthreads();
    }
};

template <class Unit, bool timed>
__global__ void wait_for(const int *from, long long *longest)
{
    __shared__ alignas(128) int into[1024];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&bar)), "r"(THREADS) : "memory");
    for (int i = threadIdx.x; i < 1024; i += THREADS)
        into[i] = 0;
    __syncthreads();
    long long most = 0;
    for (int round = 0; round < ROUNDS; round++) {
        long long start = timed ? clock64() : 0;
        Unit::wait(from, &bar, into, round);
        if (timed)
            most = max(most, clock64() - start);
    }
    if (timed && threadIdx.x % 32 == 0)
        atomicMax(longest + blockIdx.x % 64, most);
}

template <class Unit, bool timed>
static double launch(int blocks, const int *from, long long *longest)
{
    for (int i = 0; i < 64; i++)
        longest[i] = 0;
    return 1e3 * between([=] { wait_for<Unit, timed><<<blocks, THREADS>>>(from, longest); });
}

template <class Unit>
static int compare(const char *name, const int *from, long long *longest)
{
    launch<Unit, true>(FEW, from, longest);
    long long alone = *longest;
    double plain = launch<Unit, false>(MANY, from, longest);
    double us = launch<Unit, true>(MANY, from, longest);
    for (int i = 0; i < 64; i++)
        *longest = max(*longest, longest[i]);
    bool ok = *longest <= 8 * alone && us < 2 * plain;
    printf("%sok clock around %s: %lld cycles in one block, %lld in many; %.1f us, %.1f without\n",
           ok ? "" : "not ", name, alone, *longest, us, plain);
    return !ok;
}

int main()
{
    int *from;
    long long *longest;
    cudaMalloc(&from, THREADS * sizeof(int));
    cudaMemset(from, 0, THREADS * sizeof(int));
    cudaMallocManaged(&longest, 64 * sizeof *longest);
    int failed = compare<copies>("cp.async", from, longest) +
                 compare<mbarriers>("an mbarrier", from, longest) +
                 compare<products>("wgmma", from, longest);
    return failed != 0;
}
