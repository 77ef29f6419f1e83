/*
 * turns.h: numbers that the blocks of a cluster tell each other again and again, once for each row.
 * Four sets of places and barriers take turns, so that a block may tell its next numbers before it
 * has heard these: what it does meanwhile hides the way between SMs. rows.h has the same for a
 * single turn. sm_90.
 */
#ifndef LOCKSTEP_KERNELS_TURNS_H
#define LOCKSTEP_KERNELS_TURNS_H

#include "rows.h"

enum { TURN_SETS = 4 };

/* N: float2 or float4. */
template <class N> struct turns {
    N of_block[TURN_SETS][16];
    barrier all_here[TURN_SETS];
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
        for (int k = 0; k < TURN_SETS; k++)
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

/* `turn` counts from 0; the first warp has the block's numbers. Turn n + 2 is told after n was
 * heard, and between two turns all threads of the block meet at a barrier: so by then everybody has
 * read what turn n - 2 left in the same set. */
template <class N>
static __device__ __forceinline__ void tell_blocks(turns<N> *t, unsigned turn, N mine)
{
    unsigned blocks = cluster_size(), set = turn % TURN_SETS;
    if (threadIdx.x == 0) // others' numbers may be here already; the phase waits for this thread
        barrier_arrive_expecting(&t->all_here[set], blocks * sizeof(N));
    if (threadIdx.x < blocks)
        send_number(&t->of_block[set][cluster_rank()], &t->all_here[set], threadIdx.x, mine);
}
/* Lane k of every warp gets what block k said, of a power of two of blocks. */
template <class N> static __device__ __forceinline__ N hear_blocks(turns<N> *t, unsigned turn)
{
    unsigned lane = threadIdx.x % 32, set = turn % TURN_SETS;
    barrier_wait(&t->all_here[set], turn / TURN_SETS % 2);
    return t->of_block[set][lane & (cluster_size() - 1)];
}
template <class N> static __device__ __forceinline__ N take_turn(turns<N> *t, unsigned turn, N mine)
{
    if (cluster_size() == 1)
        return mine;
    tell_blocks(t, turn, mine);
    return hear_blocks(t, turn);
}

#endif
