/*
 * turn.h: what every variant shares: pairs of numbers that are turned by the angle of their token and
 * their place in the head, in place. The two of a pair are half a head apart (LLaMA, GPT-NeoX), or
 * neighbours (GPT-J). Backward is the turn by the opposite angle, and so the same kernel with sign -1.
 * x is [tokens][heads][dim]; cosines and sines are [tokens][dim / 2], in f32.
 */
#ifndef LOCKSTEP_ROPE_TURN_H
#define LOCKSTEP_ROPE_TURN_H

#include "rows.h"

struct table {
    const float *cosines, *sines;
};

static __device__ __forceinline__ void turn(float &a, float &b, float cosine, float sine)
{
    float first = a * cosine - b * sine;
    b = b * cosine + a * sine;
    a = first;
}

/* Pair p of a head that begins at `head`. */
template <bool halves, class T>
static __device__ __forceinline__ void turn_pair(T *head, int dim, int p, float cosine, float sine)
{
    T *first = head + (halves ? p : 2 * p), *second = first + (halves ? dim / 2 : 1);
    float a = widen(*first), b = widen(*second);
    turn(a, b, cosine, sine);
    narrow(a, first);
    narrow(b, second);
}

/* What a thread takes at a time: of halves the 16 bytes of PER pairs' first numbers and those of their
 * second ones; of neighbours 16 bytes, which are half as many pairs. Neighbouring threads take
 * neighbouring vectors. */
template <bool halves, class T> static constexpr int PAIRS = halves ? PER<T> : PER<T> / 2;

struct pairs_of_thread {
    uint4 first, second; // of neighbours only the first
};
template <bool halves, class T>
static __device__ __forceinline__ pairs_of_thread load_pairs(const T *head, int dim, int p)
{
    const T *at = head + (halves ? p : 2 * p);
    pairs_of_thread v;
    v.first = load_once((const uint4 *)at);
    v.second = halves ? load_once((const uint4 *)(at + dim / 2)) : v.first;
    return v;
}
template <bool halves, class T>
static __device__ __forceinline__ void turn_pairs(T *head, int dim, int p, pairs_of_thread v,
                                                  const float (&cosine)[PAIRS<halves, T>],
                                                  const float (&sine)[PAIRS<halves, T>])
{
    float a[PER<T>], b[PER<T>];
    T *at = head + (halves ? p : 2 * p);
    widen_all<T>(v.first, a);
    if constexpr (halves) {
        widen_all<T>(v.second, b);
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            turn(a[k], b[k], cosine[k], sine[k]);
        store_stream((uint4 *)(at + dim / 2), narrow_all<T>(b));
    } else {
#pragma unroll
        for (int k = 0; k < PER<T> / 2; k++)
            turn(a[2 * k], a[2 * k + 1], cosine[k], sine[k]);
    }
    store_stream((uint4 *)at, narrow_all<T>(a));
}

/* Of the pairs from `at` on, counted over all tokens. */
template <int N>
static __device__ __forceinline__ void load_angles(table t, long long at, float sign,
                                                   float (&cosine)[N], float (&sine)[N])
{
    if constexpr (N == 2) { // neighbours in f32
        float2 c = *(const float2 *)(t.cosines + at), s = *(const float2 *)(t.sines + at);
        cosine[0] = c.x, cosine[1] = c.y;
        sine[0] = sign * s.x, sine[1] = sign * s.y;
    } else {
#pragma unroll
        for (int k = 0; k < N; k += 4) {
            float4 c = *(const float4 *)(t.cosines + at + k);
            float4 s = *(const float4 *)(t.sines + at + k);
            cosine[k] = c.x, cosine[k + 1] = c.y, cosine[k + 2] = c.z, cosine[k + 3] = c.w;
            sine[k] = sign * s.x, sine[k + 1] = sign * s.y;
            sine[k + 2] = sign * s.z, sine[k + 3] = sign * s.w;
        }
    }
}

/* Do heads and rows of the table consist of whole vectors at multiples of 16 bytes? */
template <class T> static __device__ __forceinline__ bool in_vectors(const T *x, table t, int dim)
{
    return (((size_t)x | (size_t)t.cosines | (size_t)t.sines) % 16 == 0) && dim % (2 * PER<T>) == 0;
}

#define ONE_KERNEL(name, halves, T, variant, threads)                                              \
    extern "C" __global__ void __launch_bounds__(threads)                                          \
        name(T *x, const float *cosines, const float *sines, long long tokens, int heads, int dim, \
             float sign)                                                                           \
    {                                                                                              \
        variant<halves, T>(x, table{cosines, sines}, tokens, heads, dim, sign);                    \
    }
#define KERNELS(variant, threads)                                                                  \
    ONE_KERNEL(halves_f32, true, float, variant, threads)                                          \
    ONE_KERNEL(halves_f16, true, f16, variant, threads)                                            \
    ONE_KERNEL(halves_bf16, true, bf16, variant, threads)                                          \
    ONE_KERNEL(neighbours_f32, false, float, variant, threads)                                     \
    ONE_KERNEL(neighbours_f16, false, f16, variant, threads)                                       \
    ONE_KERNEL(neighbours_bf16, false, bf16, variant, threads)

#endif
