/*
 * butterflies.h: the fast Walsh-Hadamard transform of blocks of 2^log numbers: for each bit of a
 * number's place in its block, the sum and the difference of the two whose places differ in that bit.
 * Divided by the root of 2^log it is a rotation, and its own inverse. Sums are in f32.
 */
#ifndef LOCKSTEP_HADAMARD_BUTTERFLIES_H
#define LOCKSTEP_HADAMARD_BUTTERFLIES_H

#include "rows.h"

/* Over one bit of the place among the N numbers of a thread. */
template <int N> static __device__ __forceinline__ void butterfly(float (&v)[N], int bit)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        if (!(k >> bit & 1)) {
            float low = v[k], high = v[k | 1 << bit];
            v[k] = low + high;
            v[k | 1 << bit] = low - high;
        }
}

#define FOR_TYPES(KERNEL)                                                                          \
    KERNEL(f32, float)                                                                             \
    KERNEL(f16, f16)                                                                               \
    KERNEL(bf16, bf16)

#endif
