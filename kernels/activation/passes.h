/*
 * passes.h: what every variant shares: the five functions, forward and backward, and the kernels' one
 * list of arguments. A variant is a template over the pass and the type; KERNELS(variant, threads) at
 * its file's end makes gelu_forward_bf16, swiglu_backward_f32 and all others of it.
 *
 * Arrays have rows of cols elements. Rows of x and up, and of their gradients, begin `stride` elements
 * apart: twice cols where one array has both. Those of y and dy follow each other.
 */
#ifndef LOCKSTEP_ACTIVATION_PASSES_H
#define LOCKSTEP_ACTIVATION_PASSES_H

#include "activations.h"
#include "rows.h"

struct Gelu {
    static __device__ float of(float x) { return gelu(x); }
    static __device__ float slope(float x) { return gelu_slope(x); }
};
struct GeluTanh {
    static __device__ float of(float x) { return gelu_tanh(x); }
    static __device__ float slope(float x) { return gelu_tanh_slope(x); }
};
struct Silu {
    static __device__ float of(float x) { return silu(x); }
    static __device__ float slope(float x) { return silu_slope(x); }
};

/* out: y, or the gradient of x; out_up: the gradient of up. */
template <class F> struct Forward {
    enum { gated = false, backward = false };
    static __device__ void of(float x, float up, float dy, float &out, float &out_up)
    {
        out = F::of(x);
    }
};
template <class F> struct GatedForward {
    enum { gated = true, backward = false };
    static __device__ void of(float x, float up, float dy, float &out, float &out_up)
    {
        out = F::of(x) * up;
    }
};
template <class F> struct Backward {
    enum { gated = false, backward = true };
    static __device__ void of(float x, float up, float dy, float &out, float &out_up)
    {
        out = dy * F::slope(x);
    }
};
template <class F> struct GatedBackward {
    enum { gated = true, backward = true };
    static __device__ void of(float x, float up, float dy, float &out, float &out_up)
    {
        out = dy * up * F::slope(x);
        out_up = dy * F::of(x);
    }
};

template <class T> struct arrays {
    const T *x, *up, *dy;
    T *out, *out_up;
    long long cols, stride;
};

/* The element in this row and column. */
template <class Pass, class T>
static __device__ __forceinline__ void do_element(arrays<T> a, long long row, long long column)
{
    long long wide = row * a.stride + column, at = row * a.cols + column;
    float y = 0, y_up = 0;
    Pass::of(widen(a.x[wide]), Pass::gated ? widen(a.up[wide]) : 0,
             Pass::backward ? widen(a.dy[at]) : 0, y, y_up);
    narrow(y, &a.out[Pass::backward ? wide : at]);
    if (Pass::gated && Pass::backward)
        narrow(y_up, &a.out_up[wide]);
}

/* The 16 bytes of each array that begin in this row and column: load, then compute and store. */
struct loaded {
    uint4 x, up, dy;
};
template <class Pass, class T>
static __device__ __forceinline__ loaded load_vector(arrays<T> a, long long wide, long long at)
{
    loaded v;
    v.x = load_once((const uint4 *)(a.x + wide));
    v.up = Pass::gated ? load_once((const uint4 *)(a.up + wide)) : v.x;
    v.dy = Pass::backward ? load_once((const uint4 *)(a.dy + at)) : v.x;
    return v;
}
template <class Pass, class T>
static __device__ __forceinline__ void do_vector(arrays<T> a, long long wide, long long at, loaded v)
{
    float x[PER<T>], up[PER<T>], dy[PER<T>], out[PER<T>], out_up[PER<T>];
    widen_all<T>(v.x, x);
    widen_all<T>(v.up, up);
    widen_all<T>(v.dy, dy);
#pragma unroll
    for (int k = 0; k < PER<T>; k++)
        Pass::of(x[k], up[k], dy[k], out[k], out_up[k]);
    store_stream((uint4 *)(a.out + (Pass::backward ? wide : at)), narrow_all<T>(out));
    if (Pass::gated && Pass::backward)
        store_stream((uint4 *)(a.out_up + wide), narrow_all<T>(out_up));
}

/* Do all rows of all arrays consist of whole vectors at multiples of 16 bytes? */
template <class Pass, class T> static __device__ __forceinline__ bool in_vectors(arrays<T> a)
{
    size_t bits = (size_t)a.x | (size_t)a.out | (size_t)(a.cols * sizeof(T)) |
                  (size_t)(a.stride * sizeof(T));
    if (Pass::gated)
        bits |= (size_t)a.up;
    if (Pass::backward)
        bits |= (size_t)a.dy;
    if (Pass::gated && Pass::backward)
        bits |= (size_t)a.out_up;
    return bits % 16 == 0;
}

#define ONE_KERNEL(name, Pass, T, variant, threads)                                                \
    extern "C" __global__ void __launch_bounds__(threads)                                          \
        name(const T *x, const T *up, const T *dy, T *out, T *out_up, long long rows,              \
             long long cols, long long stride)                                                     \
    {                                                                                              \
        variant<Pass, T>(arrays<T>{x, up, dy, out, out_up, cols, stride}, rows);                   \
    }
#define KERNELS_OF_PASS(name, Pass, variant, threads)                                              \
    ONE_KERNEL(name##_f32, Pass, float, variant, threads)                                          \
    ONE_KERNEL(name##_f16, Pass, f16, variant, threads)                                            \
    ONE_KERNEL(name##_bf16, Pass, bf16, variant, threads)
#define KERNELS(variant, threads)                                                                  \
    KERNELS_OF_PASS(gelu_forward, Forward<Gelu>, variant, threads)                                 \
    KERNELS_OF_PASS(gelu_backward, Backward<Gelu>, variant, threads)                               \
    KERNELS_OF_PASS(gelu_tanh_forward, Forward<GeluTanh>, variant, threads)                        \
    KERNELS_OF_PASS(gelu_tanh_backward, Backward<GeluTanh>, variant, threads)                      \
    KERNELS_OF_PASS(silu_forward, Forward<Silu>, variant, threads)                                 \
    KERNELS_OF_PASS(silu_backward, Backward<Silu>, variant, threads)                               \
    KERNELS_OF_PASS(geglu_forward, GatedForward<Gelu>, variant, threads)                           \
    KERNELS_OF_PASS(geglu_backward, GatedBackward<Gelu>, variant, threads)                         \
    KERNELS_OF_PASS(swiglu_forward, GatedForward<Silu>, variant, threads)                          \
    KERNELS_OF_PASS(swiglu_backward, GatedBackward<Silu>, variant, threads)

#endif
