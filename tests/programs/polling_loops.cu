// Loops that wait for a flag and never run long without a pause: their lanes part and meet again, vote,
// or come to a barrier in every round. All blocks but the last wait for the last one, or lanes for
// another lane of their warp; nobody may starve, however few blocks run at a time.

#include <cstdio>

enum { BLOCKS = 40, THREADS = 64, ALL = -1 };

__device__ unsigned flag, rounds[32], came;

__device__ unsigned look()
{
    return *(volatile unsigned *)&flag;
}

__device__ bool sets_flag()
{
    if (blockIdx.x != BLOCKS - 1)
        return false;
    if (threadIdx.x == 0)
        *(volatile unsigned *)&flag = 1;
    return true;
}

struct both_sides { // both sides of the branch have work
    static __device__ void wait(unsigned lane)
    {
        if (sets_flag())
            return;
        unsigned seen;
        do {
            seen = look();
            if (lane & 1)
                atomicAdd(&rounds[lane], 1);
            else
                atomicMax(&rounds[lane], lane);
        } while (!seen);
    }
};

struct votes_apart { // the vote stands in both sides
    static __device__ void wait(unsigned lane)
    {
        if (sets_flag())
            return;
        for (;;) {
            if (lane & 1) {
                if (__all_sync(ALL, look()))
                    break;
            } else {
                atomicAdd(&rounds[lane], 1);
                if (__all_sync(ALL, 1))
                    break;
            }
        }
    }
};

struct one_looks { // the others get its answer by a shuffle
    static __device__ void wait(unsigned lane)
    {
        if (sets_flag())
            return;
        unsigned seen = 0;
        do {
            if (lane == 0)
                seen = look();
            else if (lane == 1)
                __nanosleep(20);
            seen = __shfl_sync(ALL, seen, 0);
        } while (!seen);
    }
};

struct lanes_loop { // each lane looks another number of times before the vote
    static __device__ void wait(unsigned lane)
    {
        if (sets_flag())
            return;
        unsigned seen = lane == 0;
        while (!__all_sync(ALL, seen))
            for (unsigned i = 0; i < lane && !seen; i++)
                seen = look();
    }
};

struct block_meets { // one thread looks, a barrier on each side of its answer
    static __device__ void wait(unsigned)
    {
        __shared__ unsigned answer;
        if (sets_flag())
            return;
        unsigned seen;
        do {
            if (threadIdx.x == 0)
                answer = look();
            __syncthreads();
            seen = answer;
            __syncthreads();
        } while (!seen);
    }
};

struct barrier_votes {
    static __device__ void wait(unsigned)
    {
        if (sets_flag())
            return;
        while (!__syncthreads_or(threadIdx.x == 0 ? look() : 0))
            ;
    }
};

struct plain_loads { // that a compiler repeats because of the barrier
    static __device__ void wait(unsigned)
    {
        if (sets_flag())
            return;
        do
            __syncthreads();
        while (!flag);
    }
};

struct cached_loads { // from the L2, as __ldcg does; nothing says that they poll
    static __device__ void wait(unsigned lane)
    {
        if (sets_flag())
            return;
        unsigned seen = 0;
        while (!seen)
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory");
    }
};

struct same_warp { // lanes 0 and 1 wait for lane 2, which waits for them behind the branch
    static __device__ void wait(unsigned lane)
    {
        unsigned seen = lane >= 2;
        while (!seen) {
            seen = look();
            if (lane & 1)
                atomicAdd(&rounds[lane], 1);
            else
                atomicMax(&rounds[lane], lane);
        }
        if (lane == 2)
            *(volatile unsigned *)&flag = 1;
    }
};

struct same_warp_votes {
    static __device__ void wait(unsigned lane)
    {
        if (lane < 2)
            while (!__any_sync(3, lane ? look() : atomicAdd(&rounds[0], 1) == 0xffffffff))
                ;
        if (lane == 2)
            *(volatile unsigned *)&flag = 1;
    }
};

struct other_warp {
    static __device__ void wait(unsigned lane)
    {
        if (threadIdx.x >= 32) {
            *(volatile unsigned *)&flag = 1;
            return;
        }
        while (!__any_sync(ALL, lane == 7 ? look() : 0)) {
            if (lane & 1)
                __nanosleep(10);
            else
                atomicAdd(&rounds[lane], 1);
            __syncwarp();
        }
    }
};

template <class Way>
__global__ void wait_for_flag()
{
    Way::wait(threadIdx.x % 32);
    atomicAdd(&came, 1);
}

template <class Way>
static void try_way(const char *name)
{
    unsigned zero = 0, count = 0;
    cudaMemcpyToSymbol(flag, &zero, sizeof zero);
    cudaMemcpyToSymbol(came, &zero, sizeof zero);
    wait_for_flag<Way><<<BLOCKS, THREADS>>>();
    cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&count, came, sizeof count);
    printf("%s: %u of %u threads came through, %s\n", name, count, BLOCKS * THREADS,
           cudaGetErrorName(error));
}

int main()
{
    try_way<both_sides>("both sides");
    try_way<votes_apart>("votes apart");
    try_way<one_looks>("one looks");
    try_way<lanes_loop>("lanes loop");
    try_way<block_meets>("block meets");
    try_way<barrier_votes>("barrier votes");
    try_way<plain_loads>("plain loads");
    try_way<cached_loads>("cached loads");
    try_way<same_warp>("same warp");
    try_way<same_warp_votes>("same warp votes");
    try_way<other_warp>("other warp");
    return 0;
}
