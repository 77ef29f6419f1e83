/*
 * bulk.h: bulk copies from global to shared memory, which one thread starts and a hardware unit
 * carries out, and the barriers in shared memory (mbarriers) that count their bytes. sm_90.
 * Addresses and sizes of bulk copies are multiples of 16 bytes.
 *
 * A barrier's phases are numbered from 0. A phase ends when as many threads have arrived as the
 * barrier was made for, and all the bytes they announced are there. A waiting thread names the
 * parity of the phase it waits for.
 */
#ifndef LOCKSTEP_KERNELS_BULK_H
#define LOCKSTEP_KERNELS_BULK_H

#include "device.h"

typedef unsigned long long barrier;

/* True in one thread of the warp, always the same one; the whole warp must take part. Let it start
 * bulk copies: the compiler then knows that the thread is alone, whereas under "threadIdx.x == 0"
 * it makes a loop over the threads around each copy. */
static __device__ __forceinline__ bool elect_one(void)
{
    unsigned chosen;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
                 : "=r"(chosen));
    return chosen != 0;
}

/* One thread makes the barriers and calls barrier_made; then the block synchronises. */
static __device__ __forceinline__ void barrier_make(barrier *b, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals)
                 : "memory");
}
static __device__ __forceinline__ void barrier_made(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ __forceinline__ void barrier_arrive(barrier *b)
{
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(shared_address(b))
        : "memory");
}
/* Arrives, and announces this many bytes: the phase does not end before they are copied. */
static __device__ __forceinline__ void barrier_arrive_expecting(barrier *b, unsigned bytes)
{
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"(
            shared_address(b)),
        "r"(bytes)
        : "memory");
}
/* Arrives when the copies (copy_async of device.h) that this thread has started are done. */
static __device__ __forceinline__ void barrier_arrive_after_copies(barrier *b)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(b))
                 : "memory");
}
static __device__ __forceinline__ void barrier_wait(barrier *b, unsigned parity)
{
    unsigned done, address = shared_address(b);
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(address), "r"(parity)
                     : "memory");
    while (!done);
}

/* To shared memory; the bytes count at the barrier. */
static __device__ __forceinline__ void bulk_load(void *shared, const void *global, unsigned bytes,
                                                 barrier *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(shared)),
                 "l"(global), "r"(bytes), "r"(shared_address(b))
                 : "memory");
}

#endif
