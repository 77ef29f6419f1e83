/*
 * passes.h: what stands between the products of an MLP: the activation and its gate, forward and
 * backward, and sums over rows. The products themselves are the kernels of gemm_fused. A thread
 * takes PER neighbouring hidden units of a row; where rows do not begin at multiples of 16 bytes,
 * one at a time.
 *
 * product, pre and dpre are [rows][wide]: wide is `hidden`, or with a gate twice that, a row's gates
 * before its other numbers (HALVES) or in turn with them (PAIRS). a and da are [rows][hidden].
 */
#ifndef LOCKSTEP_MLP_PASSES_H
#define LOCKSTEP_MLP_PASSES_H

#include "activations.h"
#include "bands.h"
#include "rows.h"

/* As kernels/mlp/host/mlp.h counts them. */
enum { GELU, GELU_TANH, SILU };
enum { NO_GATE, HALVES, PAIRS };

static __device__ __forceinline__ float value_of(int function, float x)
{
    return function == GELU ? gelu(x) : function == SILU ? silu(x) : gelu_tanh(x);
}
static __device__ __forceinline__ float slope_of(int function, float x)
{
    return function == GELU   ? gelu_slope(x)
           : function == SILU ? silu_slope(x)
                              : gelu_tanh_slope(x);
}

struct hidden_layer {
    long long rows, hidden;
    int function, gate;
};
static __device__ __forceinline__ long long wide_of(hidden_layer l)
{
    return l.gate == NO_GATE ? l.hidden : 2 * l.hidden;
}

/* N neighbours: a vector of 16 bytes, or one. */
template <int N, class T>
static __device__ __forceinline__ void take(const T *from, float (&x)[N])
{
    if constexpr (N == 1)
        x[0] = widen(*from);
    else
        widen_all<T>(*(const uint4 *)from, x);
}
template <int N, class T>
static __device__ __forceinline__ void put(T *to, const float (&x)[N])
{
    if constexpr (N == 1)
        narrow(x[0], to);
    else
        *(uint4 *)to = narrow_all<T>(x);
}

/* N hidden units from `col` on: what goes into the function, and what it is multiplied by, from a
 * row of `wide` numbers. */
template <int N, class T>
static __device__ __forceinline__ void take_units(hidden_layer l, const T *row, long long col,
                                                  float (&x)[N], float (&up)[N])
{
    if (l.gate == PAIRS) {
        float both[2][N];
        take<N>(row + 2 * col, both[0]);
        take<N>(row + 2 * col + N, both[1]);
#pragma unroll
        for (int k = 0; k < N; k++) {
            x[k] = both[2 * k / N][2 * k % N];
            up[k] = both[(2 * k + 1) / N][(2 * k + 1) % N];
        }
        return;
    }
    take<N>(row + col, x);
    if (l.gate == HALVES)
        take<N>(row + l.hidden + col, up);
}
template <int N, class T>
static __device__ __forceinline__ void put_units(hidden_layer l, T *row, long long col,
                                                 const float (&x)[N], const float (&up)[N])
{
    if (l.gate == PAIRS) {
        float both[2][N];
#pragma unroll
        for (int k = 0; k < N; k++) {
            both[2 * k / N][2 * k % N] = x[k];
            both[(2 * k + 1) / N][(2 * k + 1) % N] = up[k];
        }
        put<N>(row + 2 * col, both[0]);
        put<N>(row + 2 * col + N, both[1]);
        return;
    }
    put<N>(row + col, x);
    if (l.gate == HALVES)
        put<N>(row + l.hidden + col, up);
}

/* Forward ---------------------------------------------------------------------------------------*/

/* a = f(product + bias), times the other half with a gate. bias and pre may be NULL; pre gets
 * product + bias, and may be product. */
template <int N, class T>
static __device__ __forceinline__ void activate_units(hidden_layer l, const T *product, const T *bias,
                                                      T *pre, T *a, long long row, long long col)
{
    float x[N], up[N], bias_x[N], bias_up[N];
    take_units<N>(l, product + row * wide_of(l), col, x, up);
    if (bias)
        take_units<N>(l, bias, col, bias_x, bias_up);
#pragma unroll
    for (int k = 0; k < N && bias; k++) {
        x[k] += bias_x[k];
        up[k] = l.gate ? up[k] + bias_up[k] : 0;
    }
    if (pre)
        put_units<N>(l, pre + row * wide_of(l), col, x, up);
#pragma unroll
    for (int k = 0; k < N; k++)
        x[k] = value_of(l.function, x[k]) * (l.gate ? up[k] : 1);
    put<N>(a + row * l.hidden + col, x);
}

/* Do all rows consist of whole vectors at multiples of 16 bytes? */
template <class T>
static __device__ __forceinline__ bool in_vectors(size_t addresses, long long hidden)
{
    return (addresses | (size_t)(hidden * sizeof(T))) % 16 == 0;
}

template <int N, class T>
static __device__ __forceinline__ void activate_all(hidden_layer l, const T *product, const T *bias,
                                                    T *pre, T *a)
{
    long long across = l.hidden / N, all = l.rows * across;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < all;
         i += (long long)gridDim.x * blockDim.x)
        activate_units<N>(l, product, bias, pre, a, i / across, i % across * N);
}

template <class T>
static __device__ __forceinline__ void activate(hidden_layer l, const T *product, const T *bias,
                                                T *pre, T *a)
{
    if (in_vectors<T>((size_t)product | (size_t)bias | (size_t)pre | (size_t)a, l.hidden))
        activate_all<PER<T>>(l, product, bias, pre, a);
    else
        activate_all<1>(l, product, bias, pre, a);
}

/* Backward --------------------------------------------------------------------------------------*/

/* da becomes the gradient of the function's argument, and dup that of the other half. */
template <int N>
static __device__ __forceinline__ void slopes_of(hidden_layer l, const float (&x)[N],
                                                 const float (&up)[N], float (&da)[N],
                                                 float (&dup)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++) {
        dup[k] = l.gate ? da[k] * value_of(l.function, x[k]) : 0;
        da[k] *= slope_of(l.function, x[k]) * (l.gate ? up[k] : 1);
    }
}

/* Which part of the rows a block has: block y of them. */
struct band {
    long long first, end;
};
static __device__ __forceinline__ band band_of(long long rows)
{
    long long each = (rows + gridDim.y - 1) / gridDim.y, first = blockIdx.y * each;
    return band{first, min(first + each, rows)};
}

/* The first step of bands.h by itself, for the bias behind the second product. */
template <int N, class T>
static __device__ __forceinline__ void sum_some(const T *x, long long rows, long long cols,
                                                float *parts)
{
    long long col = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * N;
    band b = band_of(rows);
    if (col >= cols)
        return;
    float sum[N] = {};
    for (long long row = b.first; row < b.end; row++) {
        float v[N];
        take<N>(x + row * cols + col, v);
#pragma unroll
        for (int k = 0; k < N; k++)
            sum[k] += v[k];
    }
    store_part(parts + blockIdx.y * cols + col, sum);
}
template <class T>
static __device__ __forceinline__ void sum_columns(const T *x, long long rows, long long cols,
                                                   float *parts)
{
    if (in_vectors<T>((size_t)x, cols)) {
        sum_some<PER<T>>(x, rows, cols, parts);
        return;
    }
    /* As many blocks were launched as vectors need: each walks over its columns. */
    for (int k = 0; k < PER<T>; k++) {
        long long col = ((long long)blockIdx.x * PER<T> + k) * blockDim.x + threadIdx.x;
        band b = band_of(rows);
        float sum = 0;
        if (col >= cols)
            return;
        for (long long row = b.first; row < b.end; row++)
            sum += widen(x[row * cols + col]);
        parts[blockIdx.y * cols + col] = sum;
    }
}

/* The kernels, by type --------------------------------------------------------------------------*/

#define LAYER                                                                                      \
    hidden_layer                                                                                   \
    {                                                                                              \
        rows, hidden, function, gate                                                               \
    }
#define ACTIVATE(type, T)                                                                          \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        activate_##type(const T *product, const T *bias, T *pre, T *a, long long rows,             \
                        long long hidden, int function, int gate)                                  \
    {                                                                                              \
        activate(LAYER, product, bias, pre, a);                                                    \
    }
#define SUM_COLUMNS(type, T)                                                                       \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        sum_columns_##type(const T *x, long long rows, long long cols, float *parts)               \
    {                                                                                              \
        sum_columns(x, rows, cols, parts);                                                         \
    }                                                                                              \
    ADD_BANDS(add_bands_##type, T)

#endif
