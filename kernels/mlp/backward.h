/*
 * backward.h: everything that backward does with the hidden layer between its products, in one pass:
 * a block walks down a band of rows, reads pre and da, writes a (for the gradient of w2) and dpre,
 * and keeps the sums of dpre's columns in registers for the gradient of the bias.
 */
#ifndef LOCKSTEP_MLP_BACKWARD_H
#define LOCKSTEP_MLP_BACKWARD_H

#include "passes.h"

template <int N>
static __device__ __forceinline__ void store_sums(hidden_layer l, float *parts, long long col,
                                                  const float (&sum)[N], const float (&sum_up)[N])
{
    float *row = parts + blockIdx.y * wide_of(l);
    if (l.gate == PAIRS) {
        float both[2 * N];
#pragma unroll
        for (int k = 0; k < N; k++) {
            both[2 * k] = sum[k];
            both[2 * k + 1] = sum_up[k];
        }
        store_part(row + 2 * col, both);
        return;
    }
    store_part(row + col, sum);
    if (l.gate == HALVES)
        store_part(row + l.hidden + col, sum_up);
}

/* The units from `col` on. parts is NULL where there is no bias. */
template <int N, class T>
static __device__ __forceinline__ void back_units(hidden_layer l, const T *pre, const T *da, T *a,
                                                  T *dpre, float *parts, long long col)
{
    band b = band_of(l.rows);
    float sum[N] = {}, sum_up[N] = {};
    for (long long row = b.first; row < b.end; row++) {
        float x[N], up[N], d[N], dup[N], value[N];
        take_units<N>(l, pre + row * wide_of(l), col, x, up);
        take<N>(da + row * l.hidden + col, d);
#pragma unroll
        for (int k = 0; k < N; k++)
            value[k] = value_of(l.function, x[k]) * (l.gate ? up[k] : 1);
        put<N>(a + row * l.hidden + col, value);
        slopes_of<N>(l, x, up, d, dup);
        put_units<N>(l, dpre + row * wide_of(l), col, d, dup);
#pragma unroll
        for (int k = 0; k < N; k++) {
            sum[k] += d[k];
            sum_up[k] += dup[k];
        }
    }
    if (parts)
        store_sums<N>(l, parts, col, sum, sum_up);
}

template <class T>
static __device__ __forceinline__ void back(hidden_layer l, const T *pre, const T *da, T *a, T *dpre,
                                            float *parts)
{
    if (in_vectors<T>((size_t)pre | (size_t)da | (size_t)a | (size_t)dpre, l.hidden)) {
        long long col = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * PER<T>;
        if (col < l.hidden)
            back_units<PER<T>>(l, pre, da, a, dpre, parts, col);
        return;
    }
    for (int k = 0; k < PER<T>; k++) {
        long long col = ((long long)blockIdx.x * PER<T> + k) * blockDim.x + threadIdx.x;
        if (col < l.hidden)
            back_units<1>(l, pre, da, a, dpre, parts, col);
    }
}

#define ONE_PASS(type, T)                                                                          \
    ACTIVATE(type, T)                                                                              \
    SUM_COLUMNS(type, T)                                                                           \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        back_##type(const T *pre, const T *da, T *a, T *dpre, float *parts, long long rows,        \
                    long long hidden, int function, int gate)                                      \
    {                                                                                              \
        back(LAYER, pre, da, a, dpre, parts);                                                      \
    }

#endif
