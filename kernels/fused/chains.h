/*
 * chains.h: what every variant shares: the chains of functions, forward and backward, and the
 * kernels' one list of arguments. Forward kernels are made by FORWARD_KERNELS(variant, threads),
 * backward ones by BACKWARD_KERNELS: gelu_forward_bf16, residual_backward_f32 and all others.
 *
 * x, other, and out are [rows][cols]; bias is [cols]. other is the residual, or backward dy.
 */
#ifndef LOCKSTEP_FUSED_CHAINS_H
#define LOCKSTEP_FUSED_CHAINS_H

#include "activations.h"
#include "philox.h"
#include "rows.h"

/* 1 / x in one instruction for x from 1 on. activations.h divides, which takes five: alone its
 * functions hide behind the memory, but not beside Philox. */
static __device__ __forceinline__ float inverse(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
/* 1 / (kept (1 + 2^-exponent)): what dropout multiplies by costs nothing this way. */
static __device__ __forceinline__ float part_of(float exponent, float kept)
{
    return inverse(fmaf(power_of_two(-exponent), kept, kept));
}

/* normal_exponent without its limit at |x| = 5.6: further out the polynomial grows without end, so
 * that the function is 0 or 1 where it is less than 1.1e-8 away from that. */
static __device__ __forceinline__ float free_exponent(float x, float square)
{
    return x * normal_polynomial(square);
}

/* What a thread needs to know of dropout. An element is dropped if its 16 bits are below the
 * threshold. They are compared at the top of a word, where the upper element's are already; so not
 * everything may be dropped (in_vectors). */
struct dropping {
    float scale, kept;
    unsigned limit; // the threshold, at the top of a word
};
static __device__ __forceinline__ dropping dropping_of(dropout d)
{
    return dropping{d.scale, inverse(d.scale), d.threshold << 16};
}

/* f(x + bias) and its slope, both over `kept`, the share of elements that stay. */
struct Gelu {
    enum { residual = false };
    static __device__ float of(float x, float kept)
    {
        return x * part_of(free_exponent(x, x * x), kept);
    }
    static __device__ float slope(float x, const dropping &d)
    {
        float square = x * x;
        float density = 0.398942280f * d.scale * power_of_two(-0.721347520f * square);
        return fmaf(x, density, part_of(free_exponent(x, square), d.kept));
    }
};
struct GeluTanh {
    enum { residual = false };
    static __device__ float of(float x, float kept)
    {
        return x * part_of(tanh_exponent(x, fminf(x * x, 100.0f)), kept);
    }
    static __device__ float slope(float x, const dropping &d)
    {
        float square = fminf(x * x, 100.0f), s = part_of(tanh_exponent(x, square), 1);
        return d.scale * s * fmaf(x * fmaf(square, 0.214064449f, 1.59576912f), 1 - s, 1.0f);
    }
};
/* x + bias, and what is not dropped is added to other. */
struct Residual {
    enum { residual = true };
    static __device__ float of(float x, float kept)
    {
        return x;
    }
    static __device__ float slope(float x, const dropping &d)
    {
        return d.scale;
    }
};

static __device__ __forceinline__ bool is_dropped(dropping d, uint4 words, int k)
{
    unsigned word = k < 4 ? (k < 2 ? words.x : words.y) : (k < 6 ? words.z : words.w);
    return (k % 2 ? word : word << 16) < d.limit;
}

/* What is dropped is computed all the same: half of a warp's lanes would wait for the others in a
 * branch. */
template <class Chain>
static __device__ __forceinline__ float forward(dropping d, bool dropped, float x, float bias,
                                                float other)
{
    float y = Chain::of(x + bias, d.kept);
    if (Chain::residual)
        y *= d.scale;
    y = dropped ? 0.0f : y;
    return Chain::residual ? y + other : y;
}
template <class Chain>
static __device__ __forceinline__ float backward(dropping d, bool dropped, float x, float bias,
                                                 float dy)
{
    float dx = dy * Chain::slope(x + bias, d);
    return dropped ? 0.0f : dx;
}

template <class T> struct arrays {
    const T *x, *bias, *other;
    T *out;
    long long rows, cols;
};

/* Do all rows consist of whole vectors at multiples of 16 bytes? An array that is not used is NULL.
 * If everything is dropped, or there are more than 2^35 of them, elements are taken one by one as well:
 * nobody needs that fast. */
template <class T> static __device__ __forceinline__ bool in_vectors(arrays<T> a, dropout d)
{
    size_t places = (size_t)a.x | (size_t)a.bias | (size_t)a.other | (size_t)a.out;
    return d.threshold < 65536 && a.rows * a.cols >> 35 == 0 &&
           (places | (size_t)(a.cols * sizeof(T))) % 16 == 0;
}

static __device__ __forceinline__ bool is_one_dropped(dropout d, unsigned long long at)
{
    return half_word(random_words(d.stream, at / 8), (int)(at % 8)) < d.threshold;
}

template <class Chain, class T>
static __device__ __forceinline__ void do_element(arrays<T> a, dropout d, long long row,
                                                  long long column)
{
    long long at = row * a.cols + column;
    narrow(forward<Chain>(dropping_of(d), is_one_dropped(d, at), widen(a.x[at]),
                          widen(a.bias[column]), Chain::residual ? widen(a.other[at]) : 0.0f),
           &a.out[at]);
}

/* The random words of the vector at `at`. The counter's second word is 0 (in_vectors), so that of the first
 * two rounds half is the same for all. */
template <class T>
static __device__ __forceinline__ uint4 words_of(dropout d, const round_keys &keys, long long at)
{
    return words_from<PER<T>>(philox(counter_of(d.stream, (unsigned)(at / 8)), keys), at);
}

/* 16 bytes of each array: load, then compute and store. */
struct loaded {
    uint4 x, other;
};
template <class Chain, class T>
static __device__ __forceinline__ loaded load_vector(arrays<T> a, long long at)
{
    loaded v;
    v.x = load_once((const uint4 *)(a.x + at));
    v.other = Chain::residual ? load_once((const uint4 *)(a.other + at)) : v.x;
    return v;
}
template <class Chain, class T>
static __device__ __forceinline__ void do_vector(arrays<T> a, dropout d, const round_keys &keys,
                                                 long long at, uint4 biases, loaded v)
{
    float x[PER<T>], bias[PER<T>], other[PER<T>], y[PER<T>];
    dropping all = dropping_of(d);
    uint4 words =
        Chain::residual ? half_words<PER<T>>(d.stream, at) : half_words<PER<T>>(d.stream, keys, at);
    widen_all<T>(v.x, x);
    widen_all<T>(biases, bias);
    widen_all<T>(v.other, other);
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        y[k] = forward<Chain>(all, is_dropped(all, words, k), x[k], bias[k], other[k]);
    store_stream((uint4 *)(a.out + at), narrow_all<T>(y));
}

#define FORWARD_KERNEL(name, Chain, T, variant, threads)                                           \
    extern "C" __global__ void __launch_bounds__(threads) name(                                    \
        const T *x, const T *bias, const T *other, T *out, long long rows, long long cols,         \
        unsigned threshold, float scale, long long seed, long long offset, const long long *state) \
    {                                                                                              \
        variant<Chain, T>(arrays<T>{x, bias, other, out, rows, cols},                              \
                          dropout{stream_of(seed, offset, state), threshold, scale});              \
    }
#define BACKWARD_KERNEL(name, Chain, T, variant, threads)                                          \
    extern "C" __global__ void __launch_bounds__(threads, 1024 / threads)                          \
        name(const T *x, const T *bias, const T *other, T *out, long long rows, long long cols,    \
             unsigned threshold, float scale, long long seed, long long offset,                    \
             const long long *state, float *parts)                                                 \
    {                                                                                              \
        variant<Chain, T>(arrays<T>{x, bias, other, out, rows, cols},                              \
                          dropout{stream_of(seed, offset, state), threshold, scale}, parts);       \
    }
#define FOR_TYPES(MAKE, name, Chain, variant, threads)                                             \
    MAKE(name##_f32, Chain, float, variant, threads)                                               \
    MAKE(name##_f16, Chain, f16, variant, threads)                                                 \
    MAKE(name##_bf16, Chain, bf16, variant, threads)
#define FORWARD_KERNELS(variant, threads)                                                          \
    FOR_TYPES(FORWARD_KERNEL, gelu_forward, Gelu, variant, threads)                                \
    FOR_TYPES(FORWARD_KERNEL, gelu_tanh_forward, GeluTanh, variant, threads)                       \
    FOR_TYPES(FORWARD_KERNEL, residual_forward, Residual, variant, threads)
#define BACKWARD_KERNELS(variant, threads)                                                         \
    FOR_TYPES(BACKWARD_KERNEL, gelu_backward, Gelu, variant, threads)                              \
    FOR_TYPES(BACKWARD_KERNEL, gelu_tanh_backward, GeluTanh, variant, threads)                     \
    FOR_TYPES(BACKWARD_KERNEL, residual_backward, Residual, variant, threads)

#endif
