// Blocks whose warps wait for each other at an mbarrier, or that count without asking for an answer, keep
// their worker until they end: no other block can end such waits. With the limit, one block at a time
// comes to its end, and many at once do not.
// options: -arch=sm_90 --limit 100000

#include <cstdio>

enum { BLOCKS = 16, ROUNDS = 600 };

__device__ unsigned sums[128];

__device__ void wait(unsigned barrier, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

__global__ void meets()
{
    __shared__ unsigned long long turn;
    unsigned barrier = (unsigned)__cvta_generic_to_shared(&turn);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(barrier) : "memory");
    __syncthreads();
    for (unsigned round = 0; round < ROUNDS; round++) {
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
        wait(barrier, round & 1);
    }
    atomicAdd(&sums[threadIdx.x], 1);
}

__global__ void counts()
{
    for (int round = 0; round < 4 * ROUNDS; round++)
        asm volatile("red.global.add.u32 [%0], 1;" ::"l"(&sums[threadIdx.x]) : "memory");
}

int main()
{
    meets<<<BLOCKS, 128>>>();
    counts<<<BLOCKS, 128>>>();
    unsigned sum;
    cudaMemcpyFromSymbol(&sum, sums, sizeof sum);
    printf("%u\n", sum);
    return sum != BLOCKS * (1 + 4 * ROUNDS);
}
