/*
 * chunks.h: CHUNK numbers of a row in a thread's registers: loaded, as the largest of their block, and
 * stored as codes. Rows that are whole chunks at multiples of 16 bytes move as vectors, others number
 * by number.
 */
#ifndef LOCKSTEP_QUANTISE_CHUNKS_H
#define LOCKSTEP_QUANTISE_CHUNKS_H

#include "arrays.h"

/* Whole chunks, at multiples of their vectors, in x and in q? */
template <class F, class T> static __device__ __forceinline__ bool in_vectors(const arrays &a)
{
    return a.cols % CHUNK == 0 && (size_t)a.x % 16 == 0 && (size_t)a.q % (CHUNK * F::BITS / 8) == 0;
}

/* A vector number by number, of which `left` belong to the row; the others are 0. Written into words:
 * compilers need not see that an array in a union is the vector beside it. */
static __device__ __forceinline__ unsigned bits_of(float x)
{
    return __float_as_uint(x);
}
static __device__ __forceinline__ unsigned bits_of(bf16 x)
{
    return x.bits;
}
static __device__ __forceinline__ unsigned bits_of(f16 x)
{
    return x.bits;
}
template <class T> static __device__ __forceinline__ uint4 load_some(const T *x, int left)
{
    unsigned word[4] = {};
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        if (k < left)
            word[k * sizeof(T) / 4] |= bits_of(x[k]) << k * sizeof(T) % 4 * 8;
    return make_uint4(word[0], word[1], word[2], word[3]);
}

template <class T>
static __device__ __forceinline__ void load_vectors(const T *x, uint4 (&raw)[CHUNK / PER<T>])
{
#pragma unroll
    for (int v = 0; v < CHUNK / PER<T>; v++) // through the L1: the next vector shares its sectors
        raw[v] = ((const uint4 *)x)[v];
}
/* What lies behind the row's end is 0. */
template <class T>
static __device__ __forceinline__ void load_chunk(const arrays &a, long long row, int col,
                                                  bool vectors, uint4 (&raw)[CHUNK / PER<T>])
{
    const T *x = (const T *)a.x + row * a.cols + col;
    if (vectors) {
        load_vectors(x, raw);
        return;
    }
#pragma unroll
    for (int v = 0; v < CHUNK / PER<T>; v++)
        raw[v] = load_some(x + v * PER<T>, a.cols - col - v * PER<T>);
}
template <class T>
static __device__ __forceinline__ void widen_chunk(const uint4 (&raw)[CHUNK / PER<T>],
                                                   float (&x)[CHUNK])
{
#pragma unroll
    for (int v = 0; v < CHUNK / PER<T>; v++) {
        float part[PER<T>];
        widen_all<T>(raw[v], part);
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            x[v * PER<T> + k] = part[k];
    }
}

/* Of finite numbers. fmaxf passes over NaN by itself; infinities are rare enough to look again. */
template <int N> static __device__ __forceinline__ float largest_of(const float (&x)[N])
{
    float size = 0;
#pragma unroll
    for (int k = 0; k < N; k++)
        size = fmaxf(size, fabsf(x[k]));
    if (size < INFINITY)
        return size;
    size = 0;
#pragma unroll
    for (int k = 0; k < N; k++)
        size = fmaxf(size, finite_size(x[k]));
    return size;
}

template <class F>
static __device__ __forceinline__ void store_vectors(unsigned char *q,
                                                     const unsigned (&codes)[CHUNK * F::BITS / 32])
{
    if constexpr (CHUNK * F::BITS == 128)
        *(uint4 *)q = make_uint4(codes[0], codes[1], codes[2], codes[3]);
    else if constexpr (CHUNK * F::BITS == 64)
        *(uint2 *)q = make_uint2(codes[0], codes[1]);
    else
        *(unsigned *)q = codes[0];
}
template <class F>
static __device__ __forceinline__ void store_chunk(const arrays &a, long long row, int col,
                                                   bool vectors,
                                                   const unsigned (&codes)[CHUNK * F::BITS / 32])
{
    unsigned char *q = a.q + row * bytes_of<F>(a.cols) + col * F::BITS / 8;
    if (vectors) {
        store_vectors<F>(q, codes);
        return;
    }
#pragma unroll
    for (int k = 0; k < CHUNK * F::BITS / 8; k++)
        if (col + k * 8 / F::BITS < a.cols)
            q[k] = (unsigned char)(codes[k / 4] >> k % 4 * 8);
}

/* Scales the numbers, rounds and stores them. */
template <class F>
static __device__ __forceinline__ void finish_chunk(const arrays &a, long long row, int col,
                                                    bool vectors, float (&x)[CHUNK], float factor)
{
    unsigned codes[CHUNK * F::BITS / 32];
#pragma unroll
    for (int k = 0; k < CHUNK; k++)
        x[k] *= factor;
    encode<F>(a, x, row, col, codes);
    store_chunk<F>(a, row, col, vectors, codes);
}

#endif
