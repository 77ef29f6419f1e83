/*
 * columns.cu: backward: a block walks down a band of rows, with one vector of columns for each
 * thread, writes dx and keeps the sums of its columns in registers: the gradient of the bias costs
 * no second pass over dx. Each band stores its sums, and a second kernel adds those in a fixed
 * order: the same bits in every run.
 */
// arch: sm_80
#include "bands.h"
#include "chains.h"

#define BLOCK 256 // tune: 64 128 256
#define BLOCKS_PER_SM 8 // tune: 4 8 16
#define STAGES 4 // tune: 2 3 4; rows on their way, with GELU
#define ROWS 2 // tune: 1 2 4; at a time, without

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

/* Rows on their way: where they lie in shared memory they hold no registers. A thread reads what it
 * copied itself, and waits for nobody. */
static __device__ __forceinline__ uint4 *place_of(unsigned stage, bool x)
{
    __shared__ uint4 places[STAGES][2][BLOCK];
    return &places[stage][x][threadIdx.x];
}
template <class Chain, class T>
static __device__ __forceinline__ void copy_row(arrays<T> a, long long at, bool there,
                                                unsigned stage)
{
    if (there) {
        copy_async_16(place_of(stage, false), a.other + at, 16);
        if (!Chain::residual)
            copy_async_16(place_of(stage, true), a.x + at, 16);
    }
    copy_async_commit(); // also without copies: waiting counts
}
template <class Chain> static __device__ __forceinline__ loaded copied(unsigned stage)
{
    uint4 dy = *place_of(stage, false);
    return loaded{Chain::residual ? dy : *place_of(stage, true), dy};
}

template <class Chain, class T>
static __device__ __forceinline__ void back_vector(arrays<T> a, dropout d, const round_keys &keys,
                                                   long long at, uint4 biases, loaded v,
                                                   float (&sum)[PER<T>])
{
    float x[PER<T>], bias[PER<T>], dy[PER<T>], dx[PER<T>];
    dropping all = dropping_of(d);
    widen_all<T>(biases, bias);
    uint4 words = half_words<PER<T>>(d.stream, keys, at);
    widen_all<T>(v.x, x);
    widen_all<T>(v.other, dy);
#pragma unroll
    for (int k = 0; k < PER<T>; k++) {
        dx[k] = backward<Chain>(all, is_dropped(all, words, k), x[k], bias[k], dy[k]);
        sum[k] += dx[k];
    }
    store_stream((uint4 *)(a.out + at), narrow_all<T>(dx));
}

/* A thread's columns of a band, `at` being the first row's. With GELU registers are short: the rows on
 * their way lie in shared memory. */
template <class Chain, class T>
static __device__ __forceinline__ void walk_staged(arrays<T> a, dropout d, const round_keys &keys,
                                                   long long row, long long end, long long at,
                                                   uint4 bias, float (&sum)[PER<T>])
{
#pragma unroll
    for (int k = 0; k < STAGES - 1; k++)
        copy_row<Chain>(a, at + k * a.cols, row + k < end, k);
#pragma unroll 1
    while (row < end) {
#pragma unroll
        for (int k = 0; k < STAGES; k++, row++, at += a.cols) {
            if (row >= end)
                break;
            copy_row<Chain>(a, at + (STAGES - 1) * a.cols, row + STAGES - 1 < end,
                            (k + STAGES - 1) % STAGES);
            copy_async_wait(STAGES - 1);
            back_vector<Chain>(a, d, keys, at, bias, copied<Chain>(k), sum);
        }
    }
}
template <class Chain, class T>
static __device__ __forceinline__ loaded load_gradient(arrays<T> a, long long at)
{
    uint4 dy = load_once((const uint4 *)(a.other + at));
    return loaded{Chain::residual ? dy : load_once((const uint4 *)(a.x + at)), dy};
}
template <class Chain, class T>
static __device__ __forceinline__ void walk(arrays<T> a, dropout d, const round_keys &keys,
                                            long long row, long long end, long long at, uint4 bias,
                                            float (&sum)[PER<T>])
{
#pragma unroll 1
    for (; row + ROWS <= end; row += ROWS, at += ROWS * a.cols) {
        loaded v[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            v[k] = load_gradient<Chain>(a, at + k * a.cols);
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            back_vector<Chain>(a, d, keys, at + k * a.cols, bias, v[k], sum);
    }
#pragma unroll 1
    for (; row < end; row++, at += a.cols)
        back_vector<Chain>(a, d, keys, at, bias, load_gradient<Chain>(a, at), sum);
}

template <class Chain, class T>
static __device__ __forceinline__ void columns(arrays<T> a, dropout d, float *parts)
{
    const int width = BLOCK * PER<T>;
    long long from = (long long)blockIdx.x * width, band = (a.rows + gridDim.y - 1) / gridDim.y;
    long long first = blockIdx.y * band, end = min(first + band, a.rows);
    float *sums = parts + blockIdx.y * a.cols;
    if (!in_vectors(a, d)) {
        long long last = min(from + width, a.cols);
#pragma unroll 1
        for (long long column = from + threadIdx.x; column < last; column += BLOCK) {
            float sum = 0;
#pragma unroll 1
            for (long long row = first; row < end; row++)
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
    long long row = first, at = first * a.cols + column;
    if (Chain::residual)
        walk<Chain>(a, d, keys, row, end, at, bias, sum);
    else
        walk_staged<Chain>(a, d, keys, row, end, at, bias, sum);
    store_part(sums + column, sum);
}

BACKWARD_KERNELS(columns, BLOCK)

ADD_BANDS(add_bands_f32, float)
ADD_BANDS(add_bands_f16, f16)
ADD_BANDS(add_bands_bf16, bf16)
