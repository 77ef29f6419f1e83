/*
 * prefetch.h: what will be read soon, on its way into the L2 (sm_90). A block that begins waits for DRAM
 * before it has anything to do; what an earlier block has asked for is there by then. A hint: nobody
 * waits for it, no register holds it, and without it results are the same.
 *
 * How far ahead: 132 or 264 blocks, one or two for each SM of an H200. Nearer, the copy is not there in
 * time; much further, it has left the L2 (50 MB, which hold what is written, too) before it is read.
 */
#ifndef LOCKSTEP_KERNELS_PREFETCH_H
#define LOCKSTEP_KERNELS_PREFETCH_H

/* One thread asks for all of it; an address and a number of bytes that are multiples of 16. */
static __device__ __forceinline__ void bulk_prefetch(const void *global, unsigned bytes)
{
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(global), "r"(bytes));
}

#endif
