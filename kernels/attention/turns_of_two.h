/*
 * turns_of_two.h: two warpgroups take turns (ping-pong): one asks for its products while the other
 * is busy with exponentials. Named barriers 1 and 2. The first turn is passed by warpgroup 1, and
 * the one that is left over at the end is waited for by warpgroup 0.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_TURNS_OF_TWO_H
#define LOCKSTEP_KERNELS_ATTENTION_TURNS_OF_TWO_H

static __device__ __forceinline__ void turn_wait(int group)
{
    asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
}
static __device__ __forceinline__ void turn_pass(int group)
{
    asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory");
}

#endif
