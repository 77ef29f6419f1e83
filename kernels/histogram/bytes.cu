/*
 * bytes.cu: histograms of bytes: the value is the bin, and values from `bins` on do not count. It
 * does what replicated.cu does for floats, with 64 copies of 256 counters. A bin's copies then take
 * 256 bytes, so that the byte itself is the upper half of a counter's offset, and a byte
 * permutation puts the offset together: two instructions for each element.
 */
// arch: sm_75
#include "device.h" // load_stream: a load that bypasses the L1; shared_address; keep
#include "rows.h" // sum_copies, and the second kernel, which adds up what the blocks leave
#define BLOCK 1024 // tune: 256 512 1024
#define UNROLL 4 // tune: 1 2 4 8
#define COPIES 64

// Adds one at an address in shared memory. With 32-bit addresses the sum of base and offset becomes
// part of the instruction; with pointers it takes an addition of its own.
__device__ __forceinline__ void increment(unsigned address)
{
    asm volatile("red.relaxed.cta.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
}

__device__ __forceinline__ void count_one(unsigned byte, unsigned base)
{
    increment(base + byte * COPIES * 4 + threadIdx.x % COPIES * 4);
}

// The offset of byte k of a word, from its upper byte down: 0, 0, byte k, 4 * copy.
__device__ __forceinline__ void count_sixteen(uint4 v, unsigned base)
{
    const unsigned word[4] = {v.x, v.y, v.z, v.w};
    unsigned copy = threadIdx.x % COPIES * 4;
#pragma unroll
    for (unsigned k = 0; k < 16; k++)
        increment(base + __byte_perm(word[k / 4], copy, 0x5504 | k % 4 << 4));
}

__device__ __forceinline__ void count_all(const unsigned char *in, long long n, unsigned base)
{
    // Up to the first 16-byte boundary, then vectors, then what is left.
    long long head = min(n, (long long)((16 - (size_t)in % 16) % 16));
    long long vectors = (n - head) / 16, tail = head + vectors * 16;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    // keep: or the compiler steps a pointer for each load, and registers for offsets run short.
    long long all_threads = keep(gridDim.x * blockDim.x);
    const uint4 *body = (const uint4 *)(in + head);
    if (i < head)
        count_one(in[i], base);
    if (i < n - tail)
        count_one(in[tail + i], base);
    for (; i + (UNROLL - 1) * all_threads < vectors; i += UNROLL * all_threads) {
        uint4 v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            v[k] = load_stream(body + i + k * all_threads);
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            count_sixteen(v[k], base);
    }
    for (; i < vectors; i += all_threads)
        count_sixteen(load_stream(body + i), base);
}

// Row blockIdx.x of rows[gridDim.x][bins]. Blocks of row y > 0 have bins that no byte reaches.
extern "C" __global__ void __launch_bounds__(1024)
    count(const unsigned char *in, long long n, unsigned bins, unsigned *rows)
{
    extern __shared__ unsigned counters[]; // [256][COPIES]
    unsigned first = blockIdx.y * 256, here = min(256u, bins - first);
    for (unsigned i = threadIdx.x; i < 256 * COPIES; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    unsigned base = shared_address(counters) - first * COPIES * 4; // where bin 0 is, or would be
    if (first == 0)
        count_all(in, n, base);
    __syncthreads();
    sum_copies(counters, COPIES, here, rows + (size_t)blockIdx.x * bins + first);
}
