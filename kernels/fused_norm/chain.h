/*
 * chain.h: what every variant shares: sum = D(x + bias) + residual, rounded to its type, where D is
 * the dropout of family dropout; the arguments of forward and backward kernels; parts of a row in
 * registers. The norm of the sum is norm.h's, its gradient norm_gradient.h's.
 */
#ifndef LOCKSTEP_FUSED_NORM_CHAIN_H
#define LOCKSTEP_FUSED_NORM_CHAIN_H

#include "norm_passes.h"
#include "norm_registers.h"
#include "philox.h"

#define DROPOUT                                                                                    \
    unsigned threshold, float keep, long long seed, long long offset, const long long *state
#define DROP                                                                                       \
    dropout                                                                                        \
    {                                                                                              \
        stream_of(seed, offset, state), threshold, keep                                            \
    }

/* Every rounding is spelled out, so that the sum is the same in every kernel and in the reference. */
static __device__ __forceinline__ float chain_of(bool dropped, float keep, float x, float bias,
                                                 float residual)
{
    float kept = __fmul_rn(__fadd_rn(x, bias), keep);
    return __fadd_rn(dropped ? 0.0f : kept, residual);
}
static __device__ __forceinline__ bool is_dropped(dropout d, unsigned long long at)
{
    return half_word(random_words(d.stream, at / 8), (int)(at % 8)) < d.threshold;
}

/* The sum of a row, into memory and v: vectors k of thread share s. */
template <class T, int V>
static __device__ __forceinline__ void load_chain(norm_job<T> a, const T *bias, dropout d,
                                                  long long row, share s, uint4 (&v)[V],
                                                  int (&filled)[V])
{
    uint4 r[V];
    load_share<T, V>(a.x + row * a.cols, s, 0, v);
    load_share<T, V>(a.residual + row * a.cols, s, 0, r);
#pragma unroll
    for (int k = 0; k < V; k++) {
        float x[PER<T>], other[PER<T>], b[PER<T>];
        long long col = s.first + k * s.step;
        filled[k] = filled_of<T>(s, k);
        widen_all<T>(v[k], x);
        widen_all<T>(r[k], other);
        if (s.whole && filled[k]) {
            uint4 words = half_words<PER<T>>(d.stream, row * a.cols + col);
            widen_all<T>(*(const uint4 *)(bias + col), b);
#pragma unroll
            for (int i = 0; i < PER<T>; i++)
                x[i] = chain_of(half_word(words, i) < d.threshold, d.scale, x[i], b[i], other[i]);
        } else {
#pragma unroll
            for (int i = 0; i < PER<T>; i++) {
                long long at = place<T>(s, k, i);
                x[i] = i < filled[k] ? chain_of(is_dropped(d, row * a.cols + at), d.scale, x[i],
                                                widen(bias[at]), other[i])
                                     : 0.0f;
            }
        }
        store_share(a.sum + row * a.cols, s, k, x);
        v[k] = narrow_all<T>(x);
    }
}

/* Backward --------------------------------------------------------------------------------------*/

template <class T> struct chain_gradient {
    gradient_job<T> norm; // its x is the sum, its dx the gradient of the residual; dsum may be NULL
    T *dx;
    dropout d;
};
#define BACK_ARGUMENTS(T)                                                                          \
    const T *sum, const T *gamma, const float *stats, const T *dy, const T *dsum, T *dresidual,    \
        T *dx, float *parts, long long rows, long long cols, DROPOUT
#define BACK(T)                                                                                    \
    chain_gradient<T>                                                                              \
    {                                                                                              \
        gradient_job<T>{sum,   gamma, dy,   dsum, stats, dresidual,                                \
                        parts, rows,  cols, HAS_GAMMA, false},                                     \
            dx, DROP                                                                               \
    }

/* The gradient of the sum, before it is stored: rstd (w - mean(w) - h mean(w h)) + dsum. */
template <bool LAYER>
static __device__ __forceinline__ float slope_of(row_stats st, float2 means, float h, float w,
                                                 float dsum)
{
    return st.rstd * fmaf(-h, means.x, LAYER ? w - means.y : w) + dsum;
}

#define FOR_TYPES(KERNEL)                                                                          \
    KERNEL(rmsnorm_f32, float, false)                                                              \
    KERNEL(rmsnorm_f16, f16, false)                                                                \
    KERNEL(rmsnorm_bf16, bf16, false)                                                              \
    KERNEL(layernorm_f32, float, true)                                                             \
    KERNEL(layernorm_f16, f16, true)                                                               \
    KERNEL(layernorm_bf16, bf16, true)

#endif
