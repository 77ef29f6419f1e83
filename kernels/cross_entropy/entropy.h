/*
 * entropy.h: what the kernels of cross-entropy share: their arguments, what is known about a part
 * of a row, and what becomes of a number. With p = exp(x) / sum and smoothing s over n columns:
 *
 *   loss     = log(sum of exp(x)) - (1 - s) x[label] - s mean(x)
 *   gradient = g (p - s / n), minus g (1 - s) at the label
 *
 * g is the scale of the gradient; for a mean over rows it has been divided by how many count
 * (count_rows, which runs before). Rows whose label is `ignore` have loss and gradient 0; a label
 * that is no column makes both NaN. Arithmetic is in f32.
 */
#ifndef LOCKSTEP_CROSS_ENTROPY_ENTROPY_H
#define LOCKSTEP_CROSS_ENTROPY_ENTROPY_H

#include "powers.h"

#define ENTROPY_ARGUMENTS(T)                                                                       \
    T *logits, const long long *labels, const float *share, float *losses, long long rows,         \
        long long cols, long long ignore, float smoothing, float scale, int fused
#define ENTROPY(T)                                                                                 \
    entropy_job<T>                                                                                 \
    {                                                                                              \
        logits, labels, share, losses, rows, cols, ignore, smoothing, scale, fused != 0            \
    }

template <class T> struct entropy_job {
    T *logits;               // [rows][cols]; fused: become their gradients
    const long long *labels; // [rows]
    const float *share;      // one over the rows that count, or 1
    float *losses;           // [rows]
    long long rows, cols, ignore;
    float smoothing, scale;
    bool fused;
};

/* Of some numbers of a row: the largest, the sum of exp(x - largest), the sum of x. */
struct known {
    float most, sum, total;
};
static __device__ __forceinline__ known known_nothing(void)
{
    return known{-INFINITY, 0, 0};
}

/* Every lane gets what all 32 know, or its group of as many neighbours. */
template <int LANES = 32> static __device__ __forceinline__ known merge_lanes(known k)
{
    float most = max_lanes(k.most, LANES);
    float factor = k.most == -INFINITY ? 1 : power_of_two((k.most - most) * LOG2_E);
    return known{most, sum_lanes(k.sum * factor, LANES), sum_lanes(k.total, LANES)};
}
/* Every thread what the block knows; each brings its warp's. Two calls in a row must not have the
 * same of_warp. */
static __device__ __forceinline__ known merge_warps(known k, known *of_warp)
{
    unsigned lane = threadIdx.x % 32;
    if (lane == 0)
        of_warp[threadIdx.x / 32] = k;
    __syncthreads();
    if (blockDim.x <= 256) // everybody waits for this: fewer steps where they do
        return merge_lanes<8>(lane % 8 < blockDim.x / 32 ? of_warp[lane % 8] : known_nothing());
    return merge_lanes(lane < blockDim.x / 32 ? of_warp[lane] : known_nothing());
}

/* What a row's numbers are turned into. */
struct outcome {
    long long label;
    float zero, factor, constant, at_label, log_sum, total;
    bool counts; // the label is a column
};
template <class T>
static __device__ __forceinline__ outcome outcome_of(entropy_job<T> a, long long label, known k,
                                                     float share)
{
    outcome o;
    float g = a.scale * share;
    o.label = label;
    o.counts = label != a.ignore && label >= 0 && label < a.cols;
    o.zero = base(k.most);
    o.factor = g / k.sum;
    o.constant = -g * a.smoothing / a.cols;
    o.at_label = -g * (1 - a.smoothing);
    o.log_sum = base(k.most) + __log2f(k.sum) * LN_2;
    o.total = k.total;
    if (!o.counts) // 0 whatever the logits are, or NaN
        o.constant = label == a.ignore ? 0 : NAN;
    return o;
}

/* Without the label's part. */
static __device__ __forceinline__ float slope(outcome o, float x)
{
    float power = power_of_two((x - o.zero) * LOG2_E);
    return o.counts ? fmaf(power, o.factor, o.constant) : o.constant;
}

template <class T>
static __device__ __forceinline__ float loss(entropy_job<T> a, outcome o, float x)
{
    float at_label = fmaf(-(1 - a.smoothing), x, o.log_sum);
    return a.smoothing == 0 ? at_label : fmaf(-a.smoothing, o.total / a.cols, at_label);
}

/* Of a row that no thread has the label of. */
template <class T>
static __device__ __forceinline__ void write_other_loss(entropy_job<T> a, long long row, outcome o)
{
    if (!o.counts)
        a.losses[row] = o.constant;
}

/* One number. */
template <class T>
static __device__ __forceinline__ void write_one(entropy_job<T> a, long long row, long long col,
                                                 outcome o)
{
    T *at = a.logits + row * a.cols + col;
    float x = widen(*at);
    bool here = o.counts && col == o.label;
    if (here)
        a.losses[row] = loss(a, o, x);
    if (a.fused)
        narrow(here ? slope(o, x) + o.at_label : slope(o, x), at);
}

/* Rows of any length and alignment, number by number, by a block each; read twice. A thread that
 * meets a larger number multiplies its sum so far by exp(old - new). */
template <class T> static __device__ __forceinline__ void entropy_online(entropy_job<T> a)
{
    __shared__ known of_warp[32];
    const T *row = a.logits + blockIdx.x * a.cols;
    known k = known_nothing();
    for (long long col = threadIdx.x; col < a.cols; col += blockDim.x) {
        float x = widen(row[col]), most = fmaxf(k.most, x);
        k.total += x;
        if (x == -INFINITY)
            continue;
        k.sum =
            fmaf(k.sum, power_of_two((k.most - most) * LOG2_E), power_of_two((x - most) * LOG2_E));
        k.most = most;
    }
    k = merge_warps(merge_lanes(k), of_warp);
    outcome o = outcome_of(a, a.labels[blockIdx.x], k, *a.share);
    if (threadIdx.x == 0)
        write_other_loss(a, blockIdx.x, o);
    for (long long col = threadIdx.x; col < a.cols; col += blockDim.x)
        write_one(a, blockIdx.x, col, o);
}

/* By one block, before and after the others: both add up in an order that never changes. share: 1
 * over how many rows count, or 1 for a sum. */
static __device__ __forceinline__ void count_rows(const long long *labels, long long rows,
                                                  long long ignore, int mean, float *share)
{
    __shared__ float of_warp[32];
    int mine = 0;
    for (long long row = threadIdx.x; row < rows; row += blockDim.x)
        mine += labels[row] != ignore;
    float count = sum_block((float)mine, of_warp);
    if (threadIdx.x == 0)
        *share = mean ? 1 / count : 1;
}
static __device__ __forceinline__ void add_losses(const float *losses, long long rows,
                                                  const float *share, float *total)
{
    __shared__ float of_warp[32];
    float mine = 0;
    for (long long row = threadIdx.x; row < rows; row += blockDim.x)
        mine += losses[row];
    mine = sum_block(mine, of_warp);
    if (threadIdx.x == 0)
        *total = mine * *share;
}

#define ENTROPY_ENDS                                                                               \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        before(const long long *labels, long long rows, long long ignore, int mean, float *share)  \
    {                                                                                              \
        let_next_begin();                                                                          \
        count_rows(labels, rows, ignore, mean, share);                                             \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        after(const float *losses, long long rows, const float *share, float *total)               \
    {                                                                                              \
        wait_for_kernels_before();                                                                 \
        add_losses(losses, rows, share, total);                                                    \
    }
#define ENTROPY_ONLINE(type, T)                                                                    \
    extern "C" __global__ void __launch_bounds__(1024) online_##type(ENTROPY_ARGUMENTS(T))         \
    {                                                                                              \
        entropy_online<T>(ENTROPY(T));                                                             \
    }

#endif
