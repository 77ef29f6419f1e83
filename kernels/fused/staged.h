/*
 * staged.h: a thread walks down a column of vectors, DEPTH - 1 rows ahead of itself: what is on its way
 * lies in shared memory and holds no registers, so that the compiler cannot put loads off to save
 * some. A thread reads what it copied itself, and waits for nobody.
 */
#ifndef LOCKSTEP_FUSED_STAGED_H
#define LOCKSTEP_FUSED_STAGED_H

#include "chains.h"

/* A block has every gridDim.y-th row: whatever is under way on the GPU then lies close together, which
 * the memory serves faster than as many places as there are blocks. */
static __device__ __forceinline__ int rows_of_band(long long rows)
{
    return (int)((rows - blockIdx.y + gridDim.y - 1) / gridDim.y);
}

/* each(a, b) for every row, with 16 bytes from `first` and, if BOTH, from `second`. Rows are `step`
 * elements apart; WIDTH is the block's threads. */
template <bool BOTH, int DEPTH, int WIDTH, class T, class Each>
static __device__ __forceinline__ void walk_staged(const T *first, const T *second, long long step,
                                                   int rows, Each each)
{
    __shared__ uint4 places[DEPTH][BOTH ? 2 : 1][WIDTH];
    auto copy = [&](int stage, bool there) {
        if (there) {
            copy_async_16(&places[stage][0][threadIdx.x], first, 16);
            if (BOTH)
                copy_async_16(&places[stage][BOTH][threadIdx.x], second, 16);
        }
        copy_async_commit(); // also without copies: waiting counts
        first += step;
        second += step;
    };
#pragma unroll
    for (int k = 0; k < DEPTH - 1; k++)
        copy(k, k < rows);
#pragma unroll 1
    for (; rows > 0; rows -= DEPTH) {
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            if (k >= rows)
                break;
            copy((k + DEPTH - 1) % DEPTH, k + DEPTH - 1 < rows);
            copy_async_wait(DEPTH - 1);
            each(places[k][0][threadIdx.x], places[k][BOTH][threadIdx.x]);
        }
    }
}

#endif
