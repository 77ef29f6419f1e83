/*
 * weight_dropout.h: dropout of attention's weights. Philox gives 16 bits to each pair of a query
 * and a key, which depend on its place alone, so that all kernels drop the same weights, forward
 * and backward. Two queries at a distance of 8 and four keys, two neighbours and those 8 further
 * on, share a call: where sums of tensor cores have queries down, one thread has all eight weights;
 * where they have keys down, two lanes have half of them each. src/zoo/philox.h is its twin for the
 * CPU.
 */
#ifndef LOCKSTEP_KERNELS_WEIGHT_DROPOUT_H
#define LOCKSTEP_KERNELS_WEIGHT_DROPOUT_H

#include "philox.h"

/* Which four words; `head` counts the heads of Q of all sequences, and `queries` and `keys` are
 * those of the longest. From 16 keys to the next it is four further on. */
static __device__ __forceinline__ unsigned long long words_of_weight(long long head, int queries,
                                                                     int keys, int query, int key)
{
    long long line = (head * ((queries + 15) / 16) + query / 16) * 8 + query % 8;
    return (unsigned long long)((line * ((keys + 15) / 16) + key / 16) * 4 + key % 8 / 2);
}
/* And which half-word of these. */
static __device__ __forceinline__ int half_of_weight(int query, int key)
{
    return key % 2 * 4 + key / 8 % 2 * 2 + query / 8 % 2;
}

/* The words. The key is 0 here, so that the keys of the rounds are constants, which take no
 * instruction; the counter begins at 128 bits that the host has drawn by seed and offset. */
static __device__ __forceinline__ uint4 weight_words(long long low, long long high,
                                                     unsigned long long index)
{
    random_stream s = {0, (unsigned long long)high};
    return philox(counter_of(s, index + (unsigned long long)low), make_uint2(0, 0));
}

#endif
