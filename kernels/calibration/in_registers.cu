/*
 * in_registers.cu: groups of up to 1024 numbers, which a warp reads once and keeps in its registers for
 * every question. For AWQ they wait there from one exponent to the next.
 */
// arch: sm_90
#include "groups.h"

#define BLOCK 128 // tune: 64 128 256

/* 32 V numbers of a group at most; what is not there is NaN, which takes no part in anything. */
template <int V> struct held {
    float x[V];
};

template <class T, int V>
static __device__ __forceinline__ held<V> load(const groups &g, group at)
{
    held<V> h;
#pragma unroll
    for (int k = 0; k < V; k++) {
        long long i = k * 32 + threadIdx.x % 32;
        h.x[k] = i < at.length ? widen(((const T *)g.x)[at.from + i]) : __uint_as_float(0x7fffffff);
    }
    return h;
}

template <int V> static __device__ __forceinline__ float largest(const held<V> &h)
{
    float size = 0;
#pragma unroll
    for (int k = 0; k < V; k++)
        size = fmaxf(size, finite_size(h.x[k]));
    return max_lanes(size, 32);
}

template <int V> static __device__ __forceinline__ int count_to(const held<V> &h, unsigned bits)
{
    int count = 0;
#pragma unroll
    for (int k = 0; k < V; k++)
        count += __popc(__ballot_sync(0xffffffff, __float_as_uint(fabsf(h.x[k])) <= bits));
    return count;
}

template <int V>
static __device__ __forceinline__ float percentile(const groups &g, const held<V> &h)
{
    const unsigned last = 0x7f7fffff;
    long long wanted = kept_of(count_to(h, last), g.percent);
    unsigned low = 0, high = last;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (count_to(h, middle) >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return wanted > 0 ? __uint_as_float(low) : 0.0f;
}

template <class F, int V>
static __device__ __forceinline__ float best_scale(const held<V> &h, float size)
{
    float best = quantiser_to(F::LARGEST, size).scale;
    double least = INFINITY;
#pragma unroll 1
    for (int r = 0; r < RATIOS; r++) {
        float scale = quantiser_to(F::LARGEST, __fmul_rn(size, ratio_of(r))).scale;
        float factor = __fdiv_rn(1, scale);
        double error = 0;
#pragma unroll
        for (int k = 0; k < V; k++)
            error += error_of<F>(h.x[k], factor, scale);
        error = sum_lanes_of(error);
        if (r == 0 || is_better(error, least, BY_A_MILLIONTH)) {
            least = error;
            best = scale;
        }
    }
    return best;
}

template <class F, int V>
static __device__ __forceinline__ void awq_errors(const groups &g, group at, const held<V> &h,
                                                  long long number, double *errors)
{
    float log[V], mean[V];
#pragma unroll
    for (int k = 0; k < V; k++) {
        long long i = k * 32 + threadIdx.x % 32, j = (at.from + i) % g.cols;
        log[k] = i < at.length ? g.logs[j] : 0.0f;
        mean[k] = i < at.length ? g.means[j] : 0.0f;
    }
#pragma unroll 1
    for (int e = 0; e < EXPONENTS; e++) {
        float size = 0;
        double error = 0;
#pragma unroll
        for (int k = 0; k < V; k++)
            size = fmaxf(size, finite_size(h.x[k] * channel_scale(log[k], e)));
        quantiser q = quantiser_to(F::LARGEST, max_lanes(size, 32));
#pragma unroll
        for (int k = 0; k < V; k++) {
            float s = channel_scale(log[k], e), weight = __fdiv_rn(mean[k], s);
            error += error_of<F>(h.x[k] * s, q.factor, q.scale) * weight * weight;
        }
        error = sum_lanes_of(error);
        if (threadIdx.x % 32 == 0)
            errors[e * g.count + number] = error;
    }
}

template <class F, class T, int V>
static __device__ __forceinline__ void calibrate_held(const groups &g, long long number, float *scales,
                                                      double *errors)
{
    group at = group_at(g, number);
    held<V> h = load<T, V>(g, at);
    if (g.method == AWQ) {
        awq_errors<F>(g, at, h, number, errors);
        return;
    }
    float size = g.method == PERCENTILE ? percentile(g, h) : largest(h);
    float scale = g.method == MSE ? best_scale<F>(h, size) : quantiser_to(F::LARGEST, size).scale;
    if (threadIdx.x % 32 == 0)
        scales[number] = scale;
}

template <class F, class T>
static __device__ __forceinline__ void calibrate(const groups &g, long long number, float *scales,
                                                 double *errors)
{
    if (g.length <= 128)
        calibrate_held<F, T, 4>(g, number, scales, errors);
    else
        calibrate_held<F, T, 32>(g, number, scales, errors);
}

OF_FORMATS(BY_WARPS, calibrate)
AWQ_KERNELS
