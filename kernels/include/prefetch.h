/*
 * prefetch.h: what will be read soon, on its way into the L2. A block that begins waits for DRAM
 * before it has anything to do; what an earlier block has asked for is there by then. A hint:
 * nobody waits for it, no register holds it, and without it results are the same. Callers stay
 * within their arrays.
 *
 * How far ahead: 132 or 264 blocks, one or two for each SM of an H200, or 2 to 4 MB of each array.
 * Nearer, the copy is not there in time; much further, it has left the L2 (50 MB, which hold what
 * is written, too) before it is read.
 */
#ifndef LOCKSTEP_KERNELS_PREFETCH_H
#define LOCKSTEP_KERNELS_PREFETCH_H

#define L2_LINE 128

/* One thread asks for all of it; an address and a number of bytes that are multiples of 16.
 * sm_90. */
static __device__ __forceinline__ void bulk_prefetch(const void *global, unsigned bytes)
{
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(global), "r"(bytes));
}

/* All threads of a block together, a line each. */
static __device__ __forceinline__ void prefetch_lines(const void *global, unsigned bytes)
{
#pragma unroll 1
    for (unsigned at = threadIdx.x * L2_LINE; at < bytes; at += blockDim.x * L2_LINE)
        asm volatile("prefetch.global.L2 [%0];" ::"l"((const char *)global + at));
}

/* For blocks that take the parts of an array in the order of memory: what lies `ahead` bytes behind
 * this block's part is what a later one will read. `left` bytes of the array begin `here`: what
 * would end behind them is not asked for. Called by all threads; multiples of 16. */
static __device__ __forceinline__ void prefetch_later(const void *here, unsigned bytes,
                                                      long long left, unsigned ahead)
{
    const char *later = (const char *)here + ahead;
    if (left < (long long)ahead + bytes)
        return;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0)
        bulk_prefetch(later, bytes);
#else
    prefetch_lines(later, bytes);
#endif
}

#endif
