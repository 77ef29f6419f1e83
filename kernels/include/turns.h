/*
 * turns.h: numbers that the blocks of a cluster tell each other again and again, once for each row.
 * Two sets of places and barriers take turns: a block that is ahead may send its next numbers
 * before the others have read these. rows.h has the same for a single turn. sm_90.
 */
#ifndef LOCKSTEP_KERNELS_TURNS_H
#define LOCKSTEP_KERNELS_TURNS_H

#include "rows.h"

/* N: float2 or float4. */
template <class N> struct turns {
    N of_block[2][16];
    barrier all_here[2];
};

static __device__ __forceinline__ void send_number(float2 *at, barrier *b, unsigned rank, float2 x)
{
    send_to_block(at, b, rank, x);
}
static __device__ __forceinline__ void send_number(float4 *at, barrier *b, unsigned rank, float4 x)
{
    send_to_block((float2 *)at, b, rank, make_float2(x.x, x.y));
    send_to_block((float2 *)at + 1, b, rank, make_float2(x.z, x.w));
}

/* Every thread calls it, then __syncthreads, then turns_wait before the first turn. */
template <class N> static __device__ __forceinline__ void turns_begin(turns<N> *t)
{
    if (cluster_size() == 1)
        return;
    if (threadIdx.x == 0) {
        for (int k = 0; k < 2; k++)
            barrier_make(&t->all_here[k], 1);
        barrier_made();
    }
    cluster_arrive();
}
static __device__ __forceinline__ void turns_wait(void)
{
    if (cluster_size() > 1)
        cluster_wait();
}

/* Lane k of every warp gets what block k says, of a power of two of blocks; `turn` counts from 0.
 * Between two turns all threads of the block meet at a barrier: then nobody reads the places of the
 * turn before any more. */
template <class N>
static __device__ __forceinline__ N take_turn(turns<N> *t, unsigned turn, N mine, unsigned me)
{
    unsigned lane = threadIdx.x % 32, blocks = cluster_size(), set = turn % 2;
    if (blocks == 1)
        return mine;
    if (me == 0) // others' numbers may be here already; the phase waits for this thread
        barrier_arrive_expecting(&t->all_here[set], blocks * sizeof(N));
    if (me < blocks)
        send_number(&t->of_block[set][cluster_rank()], &t->all_here[set], me, mine);
    barrier_wait(&t->all_here[set], turn / 2 % 2);
    return t->of_block[set][lane & (blocks - 1)];
}
template <class N> static __device__ __forceinline__ N take_turn(turns<N> *t, unsigned turn, N mine)
{
    return take_turn(t, turn, mine, threadIdx.x);
}

#endif
