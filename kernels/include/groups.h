/*
 * groups.h: threads of a block that take rows of their own, THREADS of them each, with a barrier of
 * their own: at most 15 groups, whole warps; barrier 0 is the block's. sm_90.
 */
#ifndef LOCKSTEP_KERNELS_GROUPS_H
#define LOCKSTEP_KERNELS_GROUPS_H

#include "turns.h"

/* All threads of the group. */
template <int THREADS> static __device__ __forceinline__ void meet_group(void)
{
    if (THREADS == 32)
        __syncwarp();
    else
        asm volatile("bar.sync %0, %1;" ::"r"(1 + threadIdx.x / THREADS), "n"(THREADS) : "memory");
}

/* As turns_begin, for every group. */
template <int GROUPS> static __device__ __forceinline__ void groups_begin(turns<float2> *t)
{
    if (cluster_size() == 1)
        return;
    if (threadIdx.x == 0) {
        for (int k = 0; k < 2 * GROUPS; k++)
            barrier_make(&t[k / 2].all_here[k % 2], 1);
        barrier_made();
    }
    cluster_arrive();
}

#endif
