/*
 * powers.h: exp(x - largest) of what a thread holds of a row, in few instructions: softmax and
 * cross-entropy. Largest numbers of 16 bits are found two at a time, and a power's exponent is one
 * multiply-add. sm_80.
 */
#ifndef LOCKSTEP_KERNELS_POWERS_H
#define LOCKSTEP_KERNELS_POWERS_H

#include "rows.h"

/* Two numbers of a word at a time: half the instructions. NaN is passed over, and met again in the
 * sum. */
static __device__ __forceinline__ unsigned max_pair(unsigned a, unsigned b, bf16)
{
    unsigned most;
    asm("max.bf16x2 %0, %1, %2;" : "=r"(most) : "r"(a), "r"(b));
    return most;
}
static __device__ __forceinline__ unsigned max_pair(unsigned a, unsigned b, f16)
{
    unsigned most;
    asm("max.f16x2 %0, %1, %2;" : "=r"(most) : "r"(a), "r"(b));
    return most;
}
static __device__ __forceinline__ unsigned max_pair(unsigned a, unsigned b, float)
{
    return __float_as_uint(fmaxf(__uint_as_float(a), __uint_as_float(b)));
}
template <class T, int V> static __device__ __forceinline__ float largest(const uint4 (&v)[V])
{
    unsigned x = v[0].x, y = v[0].y;
    x = max_pair(x, v[0].z, T());
    y = max_pair(y, v[0].w, T());
#pragma unroll
    for (int i = 1; i < V; i++) {
        x = max_pair(max_pair(x, v[i].x, T()), v[i].z, T());
        y = max_pair(max_pair(y, v[i].y, T()), v[i].w, T());
    }
    x = max_pair(x, y, T());
    if constexpr (sizeof(T) == 4) {
        return __uint_as_float(x);
    } else {
        float2 pair = widen_pair(x, T());
        return fmaxf(pair.x, pair.y);
    }
}

/* Where a row ends, vectors are filled with this: minus infinity, which adds nothing. */
template <class T> static __device__ __forceinline__ uint4 filler(void)
{
    float x[PER<T>];
#pragma unroll
    for (int i = 0; i < PER<T>; i++)
        x[i] = -INFINITY;
    return narrow_all<T>(x);
}

/* Minus infinity cannot be subtracted from itself. */
static __device__ __forceinline__ float base(float most)
{
    return most == -INFINITY ? 0 : most;
}

/* 2^((x - zero) factor). One multiply-add does, with -zero factor rounded: the rounding is the same
 * factor for all numbers, and `correction` takes it out of their sum. Where zero is so large that
 * this would leave the range of f32, the difference comes first. */
struct exponents {
    float zero, factor, minus, correction;
    bool exact;
};
static __device__ __forceinline__ exponents exponents_from(float most, float factor)
{
    exponents e;
    e.zero = base(most);
    e.factor = factor;
    e.minus = -e.zero * factor;
    e.exact = !(fabsf(e.minus) < 0x1p16f);
    e.correction = e.exact ? 1 : power_of_two(-fmaf(e.zero, factor, e.minus));
    return e;
}
template <bool EXACT> static __device__ __forceinline__ float power(exponents e, float x)
{
    return power_of_two(EXACT ? (x - e.zero) * e.factor : fmaf(x, e.factor, e.minus));
}

#endif
