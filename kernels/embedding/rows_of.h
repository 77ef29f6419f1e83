/*
 * rows_of.h: what every variant shares: a thread's columns of a row, and the kernels' names. A number
 * outside of the vocabulary stands for no row: it reads zeros, and its gradient goes nowhere.
 */
#ifndef LOCKSTEP_EMBEDDING_ROWS_OF_H
#define LOCKSTEP_EMBEDDING_ROWS_OF_H

#include "rows.h"

/* A thread has PER columns: neighbours where rows are whole vectors, else `step` apart. */
struct columns {
    long long first, dim;
    int step;
    bool whole; // one vector
};
template <class T>
static __device__ __forceinline__ columns columns_of(long long from, int thread, int threads,
                                                     long long dim, bool whole)
{
    return whole ? columns{from + thread * PER<T>, dim, 1, true}
                 : columns{from + thread, dim, threads, false};
}
template <class T>
static __device__ __forceinline__ void load_columns(const T *row, columns c, float (&x)[PER<T>])
{
    if (c.whole && c.first < c.dim) {
        widen_all<T>(load_once((const uint4 *)(row + c.first)), x);
        return;
    }
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        x[k] = c.first + k * c.step < c.dim ? widen(row[c.first + k * c.step]) : 0.0f;
}
template <class T>
static __device__ __forceinline__ void store_columns(T *row, columns c, const float (&x)[PER<T>])
{
    if (c.whole && c.first < c.dim) {
        store_stream((uint4 *)(row + c.first), narrow_all<T>(x));
        return;
    }
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        if (c.first + k * c.step < c.dim)
            narrow(x[k], &row[c.first + k * c.step]);
}

/* Do rows of these arrays consist of whole vectors at multiples of 16 bytes? */
template <class T>
static __device__ __forceinline__ bool in_vectors(const T *a, const T *b, long long dim)
{
    return ((size_t)a | (size_t)b | (size_t)(dim * sizeof(T))) % 16 == 0;
}

template <class I> static __device__ __forceinline__ bool is_known(I id, long long vocab)
{
    return id >= 0 && id < vocab;
}

/* MAKE(suffix, T, I) for every pair of types. */
#define FOR_TYPES(MAKE)                                                                            \
    MAKE(f32_i32, float, int)                                                                      \
    MAKE(f32_i64, float, long long)                                                                \
    MAKE(f16_i32, f16, int)                                                                        \
    MAKE(f16_i64, f16, long long)                                                                  \
    MAKE(bf16_i32, bf16, int)                                                                      \
    MAKE(bf16_i64, bf16, long long)

#endif
