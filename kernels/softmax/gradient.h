/*
 * gradient.h: the gradient of softmax and log-softmax with respect to their input, from their
 * output y and its gradient dy, as templates for f32, f16 and bf16:
 *
 *   softmax      dx = scale y (dy - sum(y dy))
 *   log-softmax  dx = scale (dy - exp(y) sum(dy))
 *
 * Each needs one sum over the row before anything can be written. As in generic.h a row is read
 * once, V vectors of y and of dy a thread. Columns that the row did not see get 0.
 */
#ifndef LOCKSTEP_SOFTMAX_GRADIENT_H
#define LOCKSTEP_SOFTMAX_GRADIENT_H

#include "prefetch.h"
#include "sight.h"

enum { BYTES_AHEAD = 2 << 20 }; /* from what a block reads to what it asks the L2 for */

/* The arguments of every kernel, and what its body gets. */
#define GRADIENT_ARGUMENTS(T)                                                                      \
    const T *y, const T *dy, const int *lengths, T *dx, long long rows, long long cols,            \
        long long group, int mask, float scale, int op, int whole
#define GRADIENT(T)                                                                                \
    gradient<T>                                                                                    \
    {                                                                                              \
        y, dy, dx, rows, sight{cols, group, lengths, mask}, scale, op == LOG_SOFTMAX, whole != 0   \
    }

template <class T> struct gradient {
    const T *y, *dy; // [rows][cols]
    T *dx;           // [rows][cols]
    long long rows;
    sight sees;
    float scale;
    bool log, whole; // whole: rows of all buffers lie alike in 16 bytes
};

template <class T, int V>
static __device__ __forceinline__ void load(gradient<T> a, long long row, share s, uint4 (&y)[V],
                                            uint4 (&dy)[V])
{
    load_share<T, V>(a.y + row * a.sees.cols, s, a.log ? -INFINITY : 0, y);
    load_share<T, V>(a.dy + row * a.sees.cols, s, 0, dy);
}

/* What a thread adds to the row's sum. */
template <class T, int V>
static __device__ __forceinline__ float add_up(bool log, const uint4 (&y)[V], const uint4 (&dy)[V])
{
    float sum = 0;
#pragma unroll
    for (int v = 0; v < V; v++) {
        float out[PER<T>], grad[PER<T>];
        widen_all<T>(y[v], out);
        widen_all<T>(dy[v], grad);
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            sum = fmaf(log ? 1 : out[k], grad[k], sum);
    }
    return sum;
}

/* A vector's gradients, in place of those of its results. */
template <class T>
static __device__ __forceinline__ void slopes(gradient<T> a, float sum, const float (&out)[PER<T>],
                                              float (&grad)[PER<T>])
{
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        grad[k] = a.log ? a.scale * fmaf(-power_of_two(out[k] * LOG2_E), sum, grad[k])
                        : a.scale * out[k] * (grad[k] - sum);
}

template <class T, int V>
static __device__ __forceinline__ void write(gradient<T> a, long long row, share s,
                                             const uint4 (&y)[V], const uint4 (&dy)[V], float sum)
{
    s.end = a.sees.cols;
#pragma unroll
    for (int v = 0; v < V; v++) {
        float out[PER<T>], grad[PER<T>];
        widen_all<T>(y[v], out);
        widen_all<T>(dy[v], grad);
        slopes<T>(a, sum, out, grad);
        store_share(a.dx + row * a.sees.cols, s, v, grad);
    }
}

/* Rows of 1 << log_lanes lanes each, 32 at most. */
template <class T, int V>
static __device__ __forceinline__ void gradient_lanes(gradient<T> a, unsigned log_lanes)
{
    unsigned lanes = 1u << log_lanes, me = threadIdx.x & (lanes - 1);
    long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> log_lanes;
    bool mine = row < a.rows;
    share s =
        share_of(a.y + row * a.sees.cols, me, lanes, 0, mine ? visible(a.sees, row) : 0, a.whole);
    uint4 y[V], dy[V];
    load<T, V>(a, mine ? row : 0, s, y, dy);
    float sum = sum_lanes(add_up<T, V>(a.log, y, dy), lanes);
    if (mine)
        write<T, V>(a, row, s, y, dy, sum);
}

/* A block for each row. */
template <class T, int V> static __device__ __forceinline__ void gradient_block(gradient<T> a)
{
    __shared__ float of_warp[32];
    long long row = blockIdx.x;
    share s = share_of(a.y + row * a.sees.cols, threadIdx.x, blockDim.x, 0, visible(a.sees, row),
                       a.whole);
    uint4 y[V], dy[V];
    load<T, V>(a, row, s, y, dy);
    float sum = sum_block(add_up<T, V>(a.log, y, dy), of_warp);
    write<T, V>(a, row, s, y, dy, sum);
}

/* Plain rows, as in generic.h. */
template <class T, int V>
static __device__ __forceinline__ void load_plain(const T *row, long long cols, unsigned first,
                                                  uint4 (&v)[V], long long rows)
{
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = first + k * blockDim.x;
        v[k] = at < (unsigned)(cols / PER<T>) ? load_once((const uint4 *)row + at)
                                              : make_uint4(0, 0, 0, 0);
    }
    unsigned part = first - threadIdx.x, count = (unsigned)(cols / PER<T>);
    if (part < count)
        prefetch_later((const uint4 *)row + part, min(count - part, V * blockDim.x) * 16,
                       (rows * count - part) * 16, BYTES_AHEAD);
}
template <class T, int V>
static __device__ __forceinline__ void write_plain(gradient<T> a, long long row, unsigned first,
                                                   const uint4 (&y)[V], const uint4 (&dy)[V],
                                                   float sum)
{
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = first + k * blockDim.x;
        float out[PER<T>], grad[PER<T>];
        if (at >= (unsigned)(a.sees.cols / PER<T>))
            continue;
        widen_all<T>(y[k], out);
        widen_all<T>(dy[k], grad);
        slopes<T>(a, sum, out, grad);
        store_stream((uint4 *)(a.dx + row * a.sees.cols) + at, narrow_all<T>(grad));
    }
}
template <class T, int V> static __device__ __forceinline__ void gradient_plain(gradient<T> a)
{
    __shared__ float of_warp[32];
    long long row = blockIdx.x;
    uint4 y[V], dy[V];
    load_plain<T, V>(a.y + row * a.sees.cols, a.sees.cols, threadIdx.x, y, a.rows - row);
    load_plain<T, V>(a.dy + row * a.sees.cols, a.sees.cols, threadIdx.x, dy, a.rows - row);
    float sum = sum_block(add_up<T, V>(a.log, y, dy), of_warp);
    write_plain<T, V>(a, row, threadIdx.x, y, dy, sum);
}

/* Rows of any length: read twice. */
template <class T, int V> static __device__ __forceinline__ void gradient_long(gradient<T> a)
{
    __shared__ float of_warp[32];
    long long row = blockIdx.x, round = (long long)blockDim.x * V * PER<T>;
    long long end = visible(a.sees, row);
    uint4 y[V], dy[V];
    float sum = 0;
    for (long long from = 0; from < end + PER<T>; from += round) {
        load<T, V>(a, row,
                   share_of(a.y + row * a.sees.cols, threadIdx.x, blockDim.x, from, end, a.whole),
                   y, dy);
        sum += add_up<T, V>(a.log, y, dy);
    }
    sum = sum_block(sum, of_warp);
    for (long long from = 0; from < a.sees.cols + PER<T>; from += round) {
        share s = share_of(a.y + row * a.sees.cols, threadIdx.x, blockDim.x, from, end, a.whole);
        load<T, V>(a, row, s, y, dy);
        write<T, V>(a, row, s, y, dy, sum);
    }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* A cluster for each row, as forward_cluster in generic.h. */
template <class T, int V> static __device__ __forceinline__ void gradient_cluster(gradient<T> a)
{
    __shared__ float of_warp[32];
    __shared__ exchange of_blocks;
    long long row = blockIdx.x / cluster_size();
    long long from = (long long)cluster_rank() * blockDim.x * V * PER<T>;
    exchange_begin(&of_blocks);
    share s = share_of(a.y + row * a.sees.cols, threadIdx.x, blockDim.x, from, visible(a.sees, row),
                       a.whole);
    uint4 y[V], dy[V];
    load<T, V>(a, row, s, y, dy);
    float sum = sum_block(add_up<T, V>(a.log, y, dy), of_warp);
    sum = exchange_numbers(&of_blocks, make_float2(sum, 0), make_float2(0, 0)).x;
    write<T, V>(a, row, s, y, dy, sum_lanes(sum, 32));
}
template <class T, int V>
static __device__ __forceinline__ void gradient_plain_cluster(gradient<T> a)
{
    __shared__ float of_warp[32];
    __shared__ exchange of_blocks;
    long long row = blockIdx.x / cluster_size();
    unsigned first = cluster_rank() * blockDim.x * V + threadIdx.x;
    uint4 y[V], dy[V];
    exchange_begin(&of_blocks);
    load_plain<T, V>(a.y + row * a.sees.cols, a.sees.cols, first, y, a.rows - row);
    load_plain<T, V>(a.dy + row * a.sees.cols, a.sees.cols, first, dy, a.rows - row);
    float sum = sum_block(add_up<T, V>(a.log, y, dy), of_warp);
    sum = exchange_numbers(&of_blocks, make_float2(sum, 0), make_float2(0, 0)).x;
    write_plain<T, V>(a, row, first, y, dy, sum_lanes(sum, 32));
}
#endif

#endif
