/*
 * bulk.h: bulk copies from global to shared memory, which one thread starts and a hardware unit
 * carries out, and the barriers in shared memory (mbarriers) that count their bytes. sm_90.
 * Addresses and sizes of bulk copies are multiples of 16 bytes.
 *
 * A barrier's phases are numbered from 0; its phase ends when so many arrivals as it was made for
 * have come, and all bytes that they said to expect. Whoever waits names the phase's parity.
 */
#ifndef LOCKSTEP_KERNELS_BULK_H
#define LOCKSTEP_KERNELS_BULK_H

#include "device.h"

typedef u64 barrier;

/* True in one thread of a warp, which must be there as a whole; always in the same one. Whoever
 * starts bulk copies is best chosen so: the compiler then knows that it is alone, where it makes a
 * loop over the threads around each copy behind "thread_x() == 0". */
DEVICE bool warp_chooses_me(void)
{
    u32 chosen;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
                 : "=r"(chosen));
    return chosen != 0;
}

/* By one thread, for all; then barrier_made, then sync_block. */
DEVICE void barrier_make(barrier *b, u32 arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals)
                 : "memory");
}
DEVICE void barrier_made(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
DEVICE void barrier_arrive(barrier *b)
{
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(shared_address(b))
        : "memory");
}
/* Arrives, and the phase goes on until so many bytes have been copied. */
DEVICE void barrier_arrive_expecting(barrier *b, u32 bytes)
{
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"(
            shared_address(b)),
        "r"(bytes)
        : "memory");
}
DEVICE void barrier_wait(barrier *b, u32 parity)
{
    u32 done, address = shared_address(b);
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(address), "r"(parity)
                     : "memory");
    while (!done);
}

/* To shared memory; the bytes count at the barrier. */
DEVICE void bulk_load(void *shared, const void *global, u32 bytes, barrier *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(shared)),
                 "l"(global), "r"(bytes), "r"(shared_address(b))
                 : "memory");
}

#endif
