/*
 * weight_dropout.h: dropout of attention's weights. Philox gives 16 bits to each pair of a query
 * and a key, which depend on its place alone, so that all kernels drop the same weights, forward
 * and backward. Eight weights that share a call have their query and their key at the same place of
 * 8, two rows of queries by four of keys: a thread has all of them where sums of tensor cores have
 * queries down, and half of them where they have keys down. src/zoo/philox.h is its twin for the
 * CPU.
 */
#ifndef LOCKSTEP_KERNELS_WEIGHT_DROPOUT_H
#define LOCKSTEP_KERNELS_WEIGHT_DROPOUT_H

#include "philox.h"

/* Which four words of the stream; `head` counts the heads of Q of all sequences, and `queries` and
 * `keys` are those of the longest. */
static __device__ __forceinline__ unsigned long long words_of_weight(long long head, int queries,
                                                                     int keys, int query, int key)
{
    long long line = (head * ((queries + 15) / 16) + query / 16) * 8 + query % 8;
    return (unsigned long long)((line * ((keys + 31) / 32) + key / 32) * 8 + key % 8);
}
/* And which half-word of these. */
static __device__ __forceinline__ int half_of_weight(int query, int key)
{
    return key / 16 % 2 * 4 + key / 8 % 2 * 2 + query / 8 % 2;
}

#endif
