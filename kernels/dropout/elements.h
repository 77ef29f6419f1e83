/*
 * elements.h: what every variant shares: one element, 16 bytes of them, and the kernels' one list of
 * arguments. A variant is a template over the type; KERNELS(variant, threads) at its file's end makes
 * dropout_f32, dropout_f16 and dropout_bf16 of it. Backward is the same kernel on the gradient, with the
 * same seed and offset: the mask is computed again.
 */
#ifndef LOCKSTEP_DROPOUT_ELEMENTS_H
#define LOCKSTEP_DROPOUT_ELEMENTS_H

#include "philox.h"
#include "rows.h"

template <class T> struct arrays {
    const T *x;
    T *y;
    long long n;
};

template <class T>
static __device__ __forceinline__ void do_element(arrays<T> a, dropout d, long long i)
{
    narrow(drop_one(d, i, widen(a.x[i])), &a.y[i]);
}

/* The 16 bytes that begin with element i. */
template <class T>
static __device__ __forceinline__ void do_vector(arrays<T> a, dropout d, long long i, uint4 v)
{
    float x[PER<T>], y[PER<T>];
    uint4 words = half_words<PER<T>>(d.stream, i);
    widen_all<T>(v, x);
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        y[k] = drop(d, words, k, x[k]);
    store_stream((uint4 *)(a.y + i), narrow_all<T>(y));
}

template <class T> static __device__ __forceinline__ bool in_vectors(arrays<T> a)
{
    return ((size_t)a.x | (size_t)a.y) % 16 == 0;
}

#define ONE_KERNEL(name, T, variant, threads)                                                      \
    extern "C" __global__ void __launch_bounds__(threads)                                          \
        name(const T *x, T *y, long long n, unsigned threshold, float scale, long long seed,       \
             long long offset, const long long *state)                                             \
    {                                                                                              \
        variant<T>(arrays<T>{x, y, n}, dropout{stream_of(seed, offset, state), threshold, scale}); \
    }
#define KERNELS(variant, threads)                                                                  \
    ONE_KERNEL(dropout_f32, float, variant, threads)                                               \
    ONE_KERNEL(dropout_f16, f16, variant, threads)                                                 \
    ONE_KERNEL(dropout_bf16, bf16, variant, threads)

#endif
