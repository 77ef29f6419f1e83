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

/* What is added to the sums of 64 columns, as a thread reads it: the bias of columns 2 l and the
 * next, where l is its lane; and of C, in pieces of 16 bytes, eight columns of both of its rows in
 * the first 32 columns, then in the others. Neighbours exchange what they have read. Outside D the
 * nearest numbers are read. */
struct additions {
    float bias[2];
    uint4 c[4];
};
static __device__ __forceinline__ additions load_additions(const scaled_arguments &g, int row,
                                                           int column, int matrix)
{
    additions add = {};
    int lane = threadIdx.x % 32, last = g.n - 1, first = column - lane % 4 * 2;
    if (g.bias && !g.bias_down)
#pragma unroll
        for (int i = 0; i < 2; i++)
            add.bias[i] = added_at(g, g.bias, smaller(first + lane * 2 + i, last));
    if (g.c_pieces) {
        const unsigned short *c = (const unsigned short *)g.c + matrix * g.c_stride;
#pragma unroll
        for (int i = 0; i < 4; i++)
            add.c[i] = *(const uint4 *)(c + smaller(row + i % 2 * 8, g.m - 1) * g.c_row +
                                        smaller(first + i / 2 * 32 + lane % 4 * 8, g.n - 8));
    }
    return add;
}

/* C in pieces. */
template <bool IS_BF16, class sum>
static __device__ __forceinline__ void add_pieces(float beta, sum *results, const additions &add)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint4 four = exchange_in_fours(add.c[i]);
        unsigned words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int j = 0; j < 8; j++) {
            unsigned short x = (unsigned short)(words[j / 2] >> j % 2 * 16);
            sum &to = results[i / 2 * 16 + j / 2 * 4 + i % 2 * 2 + j % 2];
            put(to, fmaf(beta, IS_BF16 ? wide_bf16(x) : wide_f16(x), get(to)));
        }
    }
}
/* C number by number: f32, or rows that begin anywhere. */
template <class sum>
static __device__ __forceinline__ void add_numbers(const scaled_arguments &g, sum *results, int row,
                                                   int column, int matrix)
{
    long long rows[2] = {matrix * g.c_stride + smaller(row, g.m - 1) * g.c_row,
                         matrix * g.c_stride + smaller(row + 8, g.m - 1) * g.c_row};
    if (g.added == STORE_F32) {
#pragma unroll
        for (int i = 0; i < 32; i++)
            put(results[i],
                get(results[i]) +
                    g.beta * ((const float *)g.c)[rows[i % 4 / 2] + column_of(column, i, g.n - 1)]);
    } else {
        bool is_bf16 = g.added == STORE_BF16;
#pragma unroll
        for (int i = 0; i < 32; i++) {
            unsigned short x =
                ((const unsigned short *)g.c)[rows[i % 4 / 2] + column_of(column, i, g.n - 1)];
            put(results[i], get(results[i]) + g.beta * (is_bf16 ? wide_bf16(x) : wide_f16(x)));
        }
    }
}

/* All of it. Every choice stands outside a loop: with one for each number the code would not fit
 * the instruction cache. */
template <class sum>
static __device__ __forceinline__ void fuse_all(const scaled_arguments &g, sum *results,
                                                const additions &add, int row, int column,
                                                int matrix)
{
    if (g.c_pieces && g.added == STORE_BF16)
        add_pieces<true>(g.beta, results, add);
    else if (g.c_pieces)
        add_pieces<false>(g.beta, results, add);
    else if (g.c)
        add_numbers(g, results, row, column, matrix);
    if (g.bias && g.bias_down) {
        float of_row[2] = {added_at(g, g.bias, smaller(row, g.m - 1)),
                           added_at(g, g.bias, smaller(row + 8, g.m - 1))};
#pragma unroll
        for (int i = 0; i < 32; i++)
            put(results[i], get(results[i]) + of_row[i % 4 / 2]);
    } else if (g.bias) {
#pragma unroll
        for (int i = 0; i < 32; i += 4) {
            float pair[2];
#pragma unroll
            for (int j = 0; j < 2; j++)
                pair[j] = __shfl_sync(0xffffffff, add.bias[j], i + threadIdx.x % 4);
#pragma unroll
            for (int j = 0; j < 4; j++)
                put(results[i + j], get(results[i + j]) + pair[j % 2]);
        }
    }
    activate_all(g, results);
}

#endif
