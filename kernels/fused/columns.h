/*
 * columns.h: backward: a block walks down every gridDim.y-th row, with one vector of columns for each
 * thread, writes dx and keeps the sums of its columns in registers: the gradient of the bias costs
 * no second pass over dx. Each block stores its sums, and a second kernel adds those in a fixed
 * order: the same bits in every run. On sm_90 that kernel may be there before the first ends.
 */
#ifndef LOCKSTEP_FUSED_COLUMNS_H
#define LOCKSTEP_FUSED_COLUMNS_H

#include "bands.h"
#include "staged.h"

/* One element, whose sum is the caller's. */
template <class Chain, class T>
static __device__ __forceinline__ float back_element(arrays<T> a, dropout d, long long row,
                                                     long long column)
{
    long long at = row * a.cols + column;
    float x = Chain::residual ? 0.0f : widen(a.x[at]);
    float bias = Chain::residual ? 0.0f : widen(a.bias[column]);
    float dx = backward<Chain>(dropping_of(d), is_one_dropped(d, at), x, bias, widen(a.other[at]));
    narrow(dx, &a.out[at]);
    return dx;
}

template <class Chain, class T>
static __device__ __forceinline__ void back_vector(arrays<T> a, dropout d, const round_keys &keys,
                                                   long long at, uint4 biases, loaded v,
                                                   float (&sum)[PER<T>])
{
    float x[PER<T>], bias[PER<T>], dy[PER<T>], dx[PER<T>];
    dropping all = dropping_of(d);
    widen_all<T>(biases, bias);
    uint4 words = words_of<T>(d, keys, at);
    widen_all<T>(v.x, x);
    widen_all<T>(v.other, dy);
#pragma unroll
    for (int k = 0; k < PER<T>; k++) {
        dx[k] = backward<Chain>(all, is_dropped(all, words, k), x[k], bias[k], dy[k]);
        sum[k] += dx[k];
    }
    store_stream((uint4 *)(a.out + at), narrow_all<T>(dx));
}

/* A thread's columns of a band, `at` being the first row's. */
template <class Chain, class T>
static __device__ __forceinline__ void walk(arrays<T> a, dropout d, const round_keys &keys, int rows,
                                            long long at, uint4 bias, float (&sum)[PER<T>])
{
    long long step = gridDim.y * a.cols;
    walk_staged<!Chain::residual, STAGES, BLOCK>(
        a.other + at, a.x + at, step, rows, [&](uint4 dy, uint4 x) {
            back_vector<Chain>(a, d, keys, at, bias, loaded{x, dy}, sum);
            at += step;
        });
}

template <class Chain, class T>
static __device__ __forceinline__ void columns(arrays<T> a, dropout d, float *parts)
{
    const int width = BLOCK * PER<T>;
    long long from = (long long)blockIdx.x * width;
    int rows = rows_of_band(a.rows);
    float *sums = parts + blockIdx.y * a.cols;
    let_next_begin(); // all blocks of this grid are there: the next one's only wait beside them
    if (!in_vectors(a, d)) {
        long long last = min(from + width, a.cols);
#pragma unroll 1
        for (long long column = from + threadIdx.x; column < last; column += BLOCK) {
            float sum = 0;
#pragma unroll 1
            for (long long row = blockIdx.y; row < a.rows; row += gridDim.y)
                sum += back_element<Chain>(a, d, row, column);
            sums[column] = sum;
        }
        return;
    }
    long long column = from + threadIdx.x * PER<T>;
    round_keys keys = keys_of(d.stream.seed);
    if (column >= a.cols)
        return;
    float sum[PER<T>] = {};
    uint4 bias = make_uint4(0, 0, 0, 0);
    if (!Chain::residual)
        bias = *(const uint4 *)(a.bias + column);
    walk<Chain>(a, d, keys, rows, blockIdx.y * a.cols + column, bias, sum);
    store_part(sums + column, sum);
}

BACKWARD_KERNELS(columns, BLOCK)

ADD_BANDS(add_bands_f32, float)
ADD_BANDS(add_bands_f16, f16)
ADD_BANDS(add_bands_bf16, bf16)

#endif
