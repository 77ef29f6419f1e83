/*
 * results.h: what becomes of the sums of 64 columns that a thread of tiles.h has, once they have
 * their scales: C, bias, activation, D's scale. Thread t has rows `row` and eight below, and
 * columns `column` + 8 i and the next.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_RESULTS_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_RESULTS_H

#include "scaled.h"

/* Results take the place of the sums, in the same registers. */
static __device__ __forceinline__ void put(float &to, float x)
{
    to = x;
}
static __device__ __forceinline__ void put(int &to, float x)
{
    to = __float_as_int(x);
}
static __device__ __forceinline__ float get(float x)
{
    return x;
}
static __device__ __forceinline__ float get(int x)
{
    return __int_as_float(x);
}

static __device__ __forceinline__ int column_of(int column, int i, int last)
{
    return smaller(column + i / 4 * 8 + i % 2, last);
}
template <class sum>
static __device__ __forceinline__ void activate_all(const scaled_arguments &g, sum *results)
{
    if (g.activation == GEMM_RELU) {
#pragma unroll
        for (int i = 0; i < 32; i++)
            put(results[i], relu(get(results[i])));
    } else if (g.activation == GEMM_GELU) {
#pragma unroll
        for (int i = 0; i < 32; i++)
            put(results[i], gelu(get(results[i])));
    } else if (g.activation == GEMM_SILU) {
#pragma unroll
        for (int i = 0; i < 32; i++)
            put(results[i], silu(get(results[i])));
    }
    if (g.d_scale && g.activation != GEMM_GATE) { /* a gate's comes later */
        float scale = scale_at(g.d_scale, 0);
#pragma unroll
        for (int i = 0; i < 32; i++)
            put(results[i], get(results[i]) * scale);
    }
}

/* What is added to them, and the rest. Every choice stands outside a loop: with one for each
 * number the code would not fit the instruction cache. Outside D the nearest number of C and of
 * the bias is read. */
template <class sum>
static __device__ __forceinline__ void fuse_all(const scaled_arguments &g, sum *results, int row,
                                                int column, int matrix)
{
    int last_row = g.m - 1, last = g.n - 1;
    if (g.c) {
        long long rows[2] = {matrix * g.c_stride + smaller(row, last_row) * g.c_row,
                             matrix * g.c_stride + smaller(row + 8, last_row) * g.c_row};
        if (g.added == STORE_F32) {
#pragma unroll
            for (int i = 0; i < 32; i++)
                put(results[i],
                    get(results[i]) +
                        g.beta *
                            ((const float *)g.c)[rows[i % 4 / 2] + column_of(column, i, last)]);
        } else {
            bool is_bf16 = g.added == STORE_BF16;
#pragma unroll
            for (int i = 0; i < 32; i++) {
                unsigned short x =
                    ((const unsigned short *)g.c)[rows[i % 4 / 2] + column_of(column, i, last)];
                put(results[i], get(results[i]) + g.beta * (is_bf16 ? wide_bf16(x) : wide_f16(x)));
            }
        }
    }
    if (g.bias && g.bias_down) {
        float add[2] = {added_at(g, g.bias, smaller(row, last_row)),
                        added_at(g, g.bias, smaller(row + 8, last_row))};
#pragma unroll
        for (int i = 0; i < 32; i++)
            put(results[i], get(results[i]) + add[i % 4 / 2]);
    } else if (g.bias && g.added == STORE_F32) {
#pragma unroll
        for (int i = 0; i < 32; i++)
            put(results[i], get(results[i]) + ((const float *)g.bias)[column_of(column, i, last)]);
    } else if (g.bias) {
        bool is_bf16 = g.added == STORE_BF16;
#pragma unroll
        for (int i = 0; i < 32; i++) {
            unsigned short x = ((const unsigned short *)g.bias)[column_of(column, i, last)];
            put(results[i], get(results[i]) + (is_bf16 ? wide_bf16(x) : wide_f16(x)));
        }
    }
    activate_all(g, results);
}

#endif
