/*
 * warp_per_group.cu: a warp for each group, which reads it again for every question: its largest
 * number, 31 times to find a percentile bit by bit, 64 times to compare ratios. Groups of any length.
 */
// arch: sm_90
#include "groups.h"

#define BLOCK 256 // tune: 128 256 512

template <class T>
static __device__ __forceinline__ float number_at(const groups &g, group at, long long i)
{
    return widen(((const T *)g.x)[at.from + i]);
}

template <class T>
static __device__ __forceinline__ float largest(const groups &g, group at)
{
    float size = 0;
    for (long long i = threadIdx.x % 32; i < at.length; i += 32)
        size = fmaxf(size, finite_size(number_at<T>(g, at, i)));
    return max_lanes(size, 32);
}

/* Numbers whose size is at most that of these bits. */
template <class T>
static __device__ __forceinline__ long long count_to(const groups &g, group at, unsigned bits)
{
    long long count = 0;
    for (long long i = threadIdx.x % 32; i < at.length; i += 32)
        count += __float_as_uint(fabsf(number_at<T>(g, at, i))) <= bits;
    for (int distance = 16; distance > 0; distance /= 2)
        count += __shfl_xor_sync(0xffffffff, count, distance);
    return count;
}

/* The size that enough numbers do not exceed: the bits of positive floats are in their order. */
template <class T>
static __device__ __forceinline__ float percentile(const groups &g, group at)
{
    const unsigned last = 0x7f7fffff;
    long long wanted = kept_of(count_to<T>(g, at, last), g.percent);
    unsigned low = 0, high = last;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (count_to<T>(g, at, middle) >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return wanted > 0 ? __uint_as_float(low) : 0.0f;
}

template <class F, class T>
static __device__ __forceinline__ float best_scale(const groups &g, group at, float size)
{
    float best = quantiser_to(F::LARGEST, size).scale;
    double least = INFINITY;
    for (int r = 0; r < RATIOS; r++) {
        float scale = quantiser_to(F::LARGEST, __fmul_rn(size, ratio_of(r))).scale;
        float factor = __fdiv_rn(1, scale);
        double error = 0;
        for (long long i = threadIdx.x % 32; i < at.length; i += 32)
            error += error_of<F>(number_at<T>(g, at, i), factor, scale);
        error = sum_lanes_of(error);
        if (r == 0 || is_better(error, least, BY_A_MILLIONTH)) {
            least = error;
            best = scale;
        }
    }
    return best;
}

/* Of the group's weights with the channel scales of exponent e. */
template <class F, class T>
static __device__ __forceinline__ double awq_error(const groups &g, group at, int e)
{
    long long col = at.from % g.cols;
    float size = 0;
    double error = 0;
    for (long long i = threadIdx.x % 32; i < at.length; i += 32)
        size = fmaxf(size, finite_size(number_at<T>(g, at, i) *
                                       channel_scale(g.logs[(col + i) % g.cols], e)));
    quantiser q = quantiser_to(F::LARGEST, max_lanes(size, 32));
    for (long long i = threadIdx.x % 32; i < at.length; i += 32) {
        long long j = (col + i) % g.cols;
        float s = channel_scale(g.logs[j], e), weight = __fdiv_rn(g.means[j], s);
        error += error_of<F>(number_at<T>(g, at, i) * s, q.factor, q.scale) * weight * weight;
    }
    return sum_lanes_of(error);
}

template <class F, class T>
static __device__ __forceinline__ void calibrate(const groups &g, long long number, float *scales,
                                                 double *errors)
{
    group at = group_at(g, number);
    if (g.method == AWQ) {
        double error = awq_error<F, T>(g, at, blockIdx.y);
        if (threadIdx.x % 32 == 0)
            errors[blockIdx.y * g.count + number] = error;
        return;
    }
    float size = g.method == PERCENTILE ? percentile<T>(g, at) : largest<T>(g, at);
    float scale = g.method == MSE ? best_scale<F, T>(g, at, size)
                                  : quantiser_to(F::LARGEST, size).scale;
    if (threadIdx.x % 32 == 0)
        scales[number] = scale;
}

OF_FORMATS(BY_WARPS, calibrate)
AWQ_KERNELS
