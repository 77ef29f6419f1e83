/*
 * generic.h: softmax, log-softmax and log-sum-exp of rows in f32, f16 and bf16, with a scale and
 * masks: what the ladder's files show for plain bf16 rows, as templates. A row is read once and
 * kept in registers, V vectors of 16 bytes a thread.
 *
 * A value is x, or scale x + bias, and `factor` turns differences of values into powers of two.
 * Columns that a row does not see count as minus infinity: their probability is 0. A row that sees
 * nothing, or minus infinity alone, has the probabilities 0 and the log-sum-exp minus infinity.
 */
#ifndef LOCKSTEP_SOFTMAX_GENERIC_H
#define LOCKSTEP_SOFTMAX_GENERIC_H

#include "part.h"
#include "prefetch.h"
#include "sight.h"

enum { BYTES_AHEAD = 4 << 20 }; /* from what a block reads to what it asks the L2 for */

/* The arguments of every forward kernel, and what its body gets. */
#define ARGUMENTS(T)                                                                               \
    const T *in, const T *bias, const int *lengths, void *out, long long rows, long long cols,     \
        long long group, int mask, float scale, int op, int whole
#define FORWARD(T)                                                                                 \
    forward<T>                                                                                     \
    {                                                                                              \
        in, bias, (T *)out, (float *)out, rows, sight{cols, group, lengths, mask}, scale, op,      \
            whole != 0                                                                             \
    }

template <class T> struct forward {
    const T *in;     // [rows][cols]
    const T *bias;   // [group][cols]
    T *out;          // [rows][cols]
    float *log_sums; // [rows], of log-sum-exp in place of out
    long long rows;
    sight sees;
    float scale;
    int op;
    bool whole; // rows of all buffers lie alike in 16 bytes
};

/* Values of vector v of a share; b is the bias that belongs to it. */
template <class T, bool BIAS>
static __device__ __forceinline__ void values(uint4 x, uint4 b, float scale, float (&value)[PER<T>])
{
    widen_all<T>(x, value);
    if (BIAS) {
        float add[PER<T>];
        widen_all<T>(b, add);
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            value[k] = fmaf(value[k], scale, add[k]);
    }
}

template <bool BIAS> static __device__ __forceinline__ float factor_of(float scale)
{
    return BIAS ? LOG2_E : scale * LOG2_E;
}

/* With a bias: the sum of powers of what a thread holds. */
template <class T, int V, bool EXACT>
static __device__ __forceinline__ float add_biased(const uint4 (&x)[V], const uint4 (&b)[V],
                                                   float scale, exponents e)
{
    float sum[2] = {0, 0}, value[PER<T>];
#pragma unroll
    for (int v = 0; v < V; v++) {
        values<T, true>(x[v], b[v], scale, value);
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            sum[k % 2] += power<EXACT>(e, value[k]);
    }
    return sum[0] + sum[1];
}
template <class T, int V>
static __device__ __forceinline__ part measure_biased(uint4 (&x)[V], uint4 (&b)[V], float scale,
                                                      unsigned lanes)
{
    float most[2] = {-INFINITY, -INFINITY}, value[PER<T>];
#pragma unroll
    for (int v = 0; v < V; v++) {
        values<T, true>(x[v], b[v], scale, value);
#pragma unroll
        for (int k = 0; k < PER<T>; k++)
            most[k % 2] = fmaxf(most[k % 2], value[k]);
    }
    float all = max_lanes(fmaxf(most[0], most[1]), lanes);
    exponents e = exponents_from(all, factor_of<true>(scale));
    only_words(x);
    only_words(b);
    float sum =
        e.exact ? add_biased<T, V, true>(x, b, scale, e) : add_biased<T, V, false>(x, b, scale, e);
    only_words(x);
    only_words(b);
    return part{all, sum_lanes(sum, lanes) * e.correction};
}

/* What `lanes` neighbouring threads hold of a row, lanes being at most a warp. */
template <class T, int V, bool BIAS>
static __device__ __forceinline__ part measure(uint4 (&x)[V], uint4 (&b)[V], float scale,
                                               unsigned lanes)
{
    if constexpr (BIAS)
        return measure_biased<T, V>(x, b, scale, lanes);
    else
        return measure_vectors<T, V>(x, factor_of<false>(scale), lanes);
}

template <bool BIAS> static __device__ __forceinline__ float log_sum(part p, float scale)
{
    return base(p.most) * (BIAS ? 1 : scale) + __log2f(p.sum) * LN_2;
}

/* Values become probabilities, or their logarithms. */
struct finish {
    exponents e;
    float multiply, factor, subtract;
    bool log;
};
template <bool BIAS> static __device__ __forceinline__ finish finish_of(part p, float scale, int op)
{
    finish f;
    f.log = op == LOG_SOFTMAX;
    f.e = exponents_from(p.most, factor_of<BIAS>(scale));
    f.multiply = p.sum == 0 ? 0 : __frcp_rn(p.sum);
    f.factor = BIAS ? 1 : scale;
    f.subtract = p.sum == 0 ? 0 : __log2f(p.sum) * LN_2;
    return f;
}
template <class T> static __device__ __forceinline__ void results(finish f, float (&value)[PER<T>])
{
    if (!f.log) {
        probabilities<T>(value, f.e, f.multiply);
        return;
    }
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        value[k] = (value[k] - f.e.zero) * f.factor - f.subtract;
}

template <class T, int V, bool BIAS>
static __device__ __forceinline__ void write(forward<T> a, long long row, share s,
                                             const uint4 (&x)[V], const uint4 (&b)[V], part p)
{
    finish f = finish_of<BIAS>(p, a.scale, a.op);
    s.end = a.sees.cols;
#pragma unroll
    for (int v = 0; v < V; v++) {
        float value[PER<T>];
        values<T, BIAS>(x[v], b[v], a.scale, value);
        results<T>(f, value);
        store_share(a.out + row * a.sees.cols, s, v, value);
    }
}

/* The share's elements, and their bias. */
template <class T, int V, bool BIAS>
static __device__ __forceinline__ void load(forward<T> a, long long row, share s, uint4 (&x)[V],
                                            uint4 (&b)[V])
{
    load_share<T, V>(a.in + row * a.sees.cols, s, -INFINITY, x);
    if (BIAS)
        load_share<T, V>(a.bias + row % a.sees.group * a.sees.cols, s, 0, b);
}

/* Rows of 1 << log_lanes lanes each, 32 at most; a block takes as many as it has lanes for. */
template <class T, int V, bool BIAS>
static __device__ __forceinline__ void forward_lanes(forward<T> a, unsigned log_lanes)
{
    unsigned lanes = 1u << log_lanes, me = threadIdx.x & (lanes - 1);
    long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> log_lanes;
    bool mine = row < a.rows;
    share s =
        share_of(a.in + row * a.sees.cols, me, lanes, 0, mine ? visible(a.sees, row) : 0, a.whole);
    uint4 x[V], b[V];
    load<T, V, BIAS>(a, mine ? row : 0, s, x, b);
    part p = measure<T, V, BIAS>(x, b, a.scale, lanes);
    if (!mine)
        return;
    if (a.op != LOG_SUM_EXP)
        write<T, V, BIAS>(a, row, s, x, b, p);
    else if (me == 0)
        a.log_sums[row] = log_sum<BIAS>(p, a.scale);
}

/* A block for each row. */
template <class T, int V, bool BIAS>
static __device__ __forceinline__ void forward_block(forward<T> a)
{
    __shared__ part of_warp[32];
    long long row = blockIdx.x;
    share s = share_of(a.in + row * a.sees.cols, threadIdx.x, blockDim.x, 0, visible(a.sees, row),
                       a.whole);
    uint4 x[V], b[V];
    load<T, V, BIAS>(a, row, s, x, b);
    part p = measure<T, V, BIAS>(x, b, a.scale, 32);
    p = merge_warps(p, factor_of<BIAS>(a.scale), of_warp);
    if (a.op != LOG_SUM_EXP)
        write<T, V, BIAS>(a, row, s, x, b, p);
    else if (threadIdx.x == 0)
        a.log_sums[row] = log_sum<BIAS>(p, a.scale);
}

/* Plain rows: no masks, whole vectors, and they begin at multiples of 16 bytes. What the compiler
 * need not provide for leaves registers for more threads. A thread's vectors, from `first` on. */
template <class T, int V>
static __device__ __forceinline__ part measure_plain(forward<T> a, long long row, unsigned first,
                                                     uint4 (&x)[V], part *of_warp)
{
    float factor = factor_of<false>(a.scale);
    const uint4 *from = (const uint4 *)(a.in + row * a.sees.cols);
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = first + k * blockDim.x;
        x[k] = at < (unsigned)(a.sees.cols / PER<T>) ? load_once(from + at) : filler<T>();
    }
    unsigned part = first - threadIdx.x, count = (unsigned)(a.sees.cols / PER<T>);
    if (part < count)
        prefetch_later(from + part, min(count - part, V * blockDim.x) * 16,
                       ((a.rows - row) * count - part) * 16, BYTES_AHEAD);
    return merge_warps(measure_vectors<T, V>(x, factor, 32), factor, of_warp);
}
template <class T, int V>
static __device__ __forceinline__ void write_plain(forward<T> a, long long row, unsigned first,
                                                   const uint4 (&x)[V], part p)
{
    uint4 *to = (uint4 *)(a.out + row * a.sees.cols);
    if (a.op == LOG_SUM_EXP) {
        if (first == 0)
            a.log_sums[row] = log_sum<false>(p, a.scale);
        return;
    }
    finish f = finish_of<false>(p, a.scale, a.op);
#pragma unroll
    for (int k = 0; k < V; k++) {
        unsigned at = first + k * blockDim.x;
        float value[PER<T>];
        if (at >= (unsigned)(a.sees.cols / PER<T>))
            continue;
        widen_all<T>(x[k], value);
        results<T>(f, value);
        store_stream(&to[at], narrow_all<T>(value));
    }
}
template <class T, int V> static __device__ __forceinline__ void forward_plain(forward<T> a)
{
    __shared__ part of_warp[32];
    uint4 x[V];
    part p = measure_plain<T, V>(a, blockIdx.x, threadIdx.x, x, of_warp);
    write_plain<T, V>(a, blockIdx.x, threadIdx.x, x, p);
}

/* Rows of any length, by a block each: online, so that they are read twice and not three times. */
template <class T, int V, bool BIAS>
static __device__ __forceinline__ void forward_long(forward<T> a)
{
    __shared__ part of_warp[32];
    long long row = blockIdx.x, round = (long long)blockDim.x * V * PER<T>;
    long long end = visible(a.sees, row);
    float factor = factor_of<BIAS>(a.scale);
    uint4 x[V], b[V];
    part p = {-INFINITY, 0};
    for (long long from = 0; from < end + PER<T>; from += round) {
        share s = share_of(a.in + row * a.sees.cols, threadIdx.x, blockDim.x, from, end, a.whole);
        load<T, V, BIAS>(a, row, s, x, b);
        part more = measure<T, V, BIAS>(x, b, a.scale, 1);
        float most = fmaxf(p.most, more.most);
        p = part{most, relative_to(most, p, factor) + relative_to(most, more, factor)};
    }
    p = merge_warps(merge_lanes(p, factor, 32), factor, of_warp);
    if (a.op == LOG_SUM_EXP) {
        if (threadIdx.x == 0)
            a.log_sums[row] = log_sum<BIAS>(p, a.scale);
        return;
    }
    for (long long from = 0; from < a.sees.cols + PER<T>; from += round) {
        share s = share_of(a.in + row * a.sees.cols, threadIdx.x, blockDim.x, from, end, a.whole);
        load<T, V, BIAS>(a, row, s, x, b);
        write<T, V, BIAS>(a, row, s, x, b, p);
    }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* A cluster for each row: each block holds a part of it, and all exchange what they found. */
template <class T, int V, bool BIAS>
static __device__ __forceinline__ void forward_cluster(forward<T> a)
{
    __shared__ part of_warp[32];
    __shared__ exchange of_blocks;
    unsigned rank = cluster_rank();
    long long row = blockIdx.x / cluster_size(), from = (long long)rank * blockDim.x * V * PER<T>;
    float factor = factor_of<BIAS>(a.scale);
    exchange_begin(&of_blocks);
    share s = share_of(a.in + row * a.sees.cols, threadIdx.x, blockDim.x, from,
                       visible(a.sees, row), a.whole);
    uint4 x[V], b[V];
    load<T, V, BIAS>(a, row, s, x, b);
    part p = merge_warps(measure<T, V, BIAS>(x, b, a.scale, 32), factor, of_warp);
    float2 other =
        exchange_numbers(&of_blocks, make_float2(p.most, p.sum), make_float2(-INFINITY, 0));
    p = merge_lanes(part{other.x, other.y}, factor, 32);
    if (a.op != LOG_SUM_EXP)
        write<T, V, BIAS>(a, row, s, x, b, p);
    else if (threadIdx.x == 0 && rank == 0)
        a.log_sums[row] = log_sum<BIAS>(p, a.scale);
}
template <class T, int V> static __device__ __forceinline__ void forward_plain_cluster(forward<T> a)
{
    __shared__ part of_warp[32];
    __shared__ exchange of_blocks;
    long long row = blockIdx.x / cluster_size();
    unsigned first = cluster_rank() * blockDim.x * V + threadIdx.x;
    uint4 x[V];
    exchange_begin(&of_blocks);
    part p = measure_plain<T, V>(a, row, first, x, of_warp);
    float2 other =
        exchange_numbers(&of_blocks, make_float2(p.most, p.sum), make_float2(-INFINITY, 0));
    p = merge_lanes(part{other.x, other.y}, factor_of<false>(a.scale), 32);
    write_plain<T, V>(a, row, first, x, p);
}
#endif

#endif
