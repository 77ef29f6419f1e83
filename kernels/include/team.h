/*
 * team.h: numbers that the blocks of a team tell each other through the L2, row after row. Warp w
 * of every block of the team takes the same rows in the same order, and each warp has slots of its
 * own: no block ever waits at a barrier. All blocks are on the GPU at once (a cooperative launch),
 * and the slots are zero before it.
 *
 * A slot holds two numbers; the lowest bit of the second one says which round they belong to, so
 * that one word of 8 bytes carries the value and its flag, and no fence is needed. Slots are used
 * again after SETS turns. Everybody hears turn n before telling turn n + 2 LAG + 1: LAG rows may be
 * under way, each of which may need a second turn. Who tells turn n + SETS has heard turn
 * n + SETS - 2 LAG - 1; that was told by blocks that had heard n if SETS >= 4 LAG + 2.
 */
#ifndef LOCKSTEP_KERNELS_TEAM_H
#define LOCKSTEP_KERNELS_TEAM_H

#include "rows.h"

enum { TEAM_SETS = 8, TEAM_LAG = 1, TEAM_MOST = 160 }; // blocks of a team, at most

/* This block's part of the columns, in vectors, and this warp's rows. */
struct team {
    unsigned long long *slots; // [TEAM_SETS][size]
    unsigned size, rank, turn; // blocks; the turn that comes next
    unsigned first, count, room;
    unsigned row, step, rows; // the first row, from one to the next, how many
};
/* What blocks lane, lane + 32 .. told. */
struct heard {
    unsigned long long word[TEAM_MOST / 32];
};

/* slots: [teams][warps][TEAM_SETS][size]; `room` vectors for each block but the last. */
static __device__ __forceinline__ team team_of(unsigned long long *slots, unsigned size,
                                               unsigned room, unsigned vectors, long long rows)
{
    unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32, number = blockIdx.x / size;
    team t;
    t.slots = slots + (size_t)(number * warps + warp) * TEAM_SETS * size;
    t.size = size;
    t.rank = blockIdx.x % size;
    t.turn = 0;
    t.first = t.rank * room;
    t.count = min(room, vectors - t.first); // no block is without a vector
    t.room = room;
    t.row = number * warps + warp;
    t.step = gridDim.x / size * warps;
    t.rows = t.row < rows ? ((unsigned)rows - t.row + t.step - 1) / t.step : 0;
    return t;
}

/* Every lane has the block's numbers. An infinite second one becomes NaN: the flag would make it
 * one in every other round. Returns the turn, for hear_team. */
static __device__ __forceinline__ unsigned tell_team(team &t, float2 mine)
{
    unsigned low = __float_as_uint(mine.y), flag = ~(t.turn / TEAM_SETS) & 1;
    if ((low & 0x7f800000) == 0x7f800000)
        low |= 0x00400000;
    if (threadIdx.x % 32 == 0)
        store_relaxed(t.slots + t.turn % TEAM_SETS * t.size + t.rank,
                      (unsigned long long)__float_as_uint(mine.x) << 32 | (low & ~1u) | flag);
    return t.turn++;
}

/* Looks until everybody has told. Lanes past the last block look at that one, so that all go the
 * same way. (To look early, while the next row is measured, was tried and is slower: blocks then
 * drift apart, and the memory serves them best when they are all at the same rows.) */
static __device__ __forceinline__ void hear_team(const team &t, unsigned turn, heard &h)
{
    const unsigned long long *from = t.slots + turn % TEAM_SETS * t.size;
    unsigned flag = ~(turn / TEAM_SETS) & 1, same;
    do {
        same = 1;
#pragma unroll
        for (int k = 0; k < TEAM_MOST / 32; k++)
            if (32 * k < t.size) {
                h.word[k] = load_relaxed(from + min(threadIdx.x % 32 + 32 * k, t.size - 1));
                same &= ~((unsigned)h.word[k] ^ flag);
            }
    } while (!__all_sync(0xffffffff, same));
}

/* The numbers of block lane + 32 k. */
static __device__ __forceinline__ float2 numbers_of(const heard &h, int k)
{
    return make_float2(__uint_as_float(h.word[k] >> 32), __uint_as_float((unsigned)h.word[k]));
}

#endif
