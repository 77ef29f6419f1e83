/*
 * separate.cu: a kernel for each step, whole arrays in between: a product, its bias, the activation,
 * the next product. Backward likewise: the activation again, its slopes, and sums over rows for each
 * bias. Each is as fast as the memory by itself.
 */
// arch: sm_80
#include "passes.h"

#define BLOCK 256 // tune: 128 256 512

/* x += bias, in place. */
template <class T>
static __device__ __forceinline__ void add_bias(T *x, const T *bias, long long rows, long long cols)
{
    long long all = rows * cols, step = (long long)gridDim.x * BLOCK;
    bool vectors = in_vectors<T>((size_t)x | (size_t)bias, cols);
    int per = vectors ? PER<T> : 1;
    for (long long i = ((long long)blockIdx.x * BLOCK + threadIdx.x) * per; i < all; i += step * per) {
        if (vectors) {
            float a[PER<T>], b[PER<T>];
            take<PER<T>>(x + i, a);
            take<PER<T>>(bias + i % cols, b);
#pragma unroll
            for (int k = 0; k < PER<T>; k++)
                a[k] += b[k];
            put<PER<T>>(x + i, a);
        } else {
            narrow(widen(x[i]) + widen(bias[i % cols]), &x[i]);
        }
    }
}

/* dpre from pre and da. */
template <int N, class T>
static __device__ __forceinline__ void slopes_all(hidden_layer l, const T *pre, const T *da, T *dpre)
{
    long long across = l.hidden / N, all = l.rows * across;
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x; i < all;
         i += (long long)gridDim.x * BLOCK) {
        long long row = i / across, col = i % across * N;
        float x[N], up[N], d[N], dup[N];
        take_units<N>(l, pre + row * wide_of(l), col, x, up);
        take<N>(da + row * l.hidden + col, d);
        slopes_of<N>(l, x, up, d, dup);
        put_units<N>(l, dpre + row * wide_of(l), col, d, dup);
    }
}

#define SEPARATE(type, T)                                                                          \
    ACTIVATE(type, T)                                                                              \
    SUM_COLUMNS(type, T)                                                                           \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        add_bias_##type(T *x, const T *bias, long long rows, long long cols)                       \
    {                                                                                              \
        add_bias(x, bias, rows, cols);                                                             \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        slopes_##type(const T *pre, const T *da, T *dpre, long long rows, long long hidden,        \
                      int function, int gate)                                                      \
    {                                                                                              \
        if (in_vectors<T>((size_t)pre | (size_t)da | (size_t)dpre, hidden))                        \
            slopes_all<PER<T>>(LAYER, pre, da, dpre);                                              \
        else                                                                                       \
            slopes_all<1>(LAYER, pre, da, dpre);                                                   \
    }
SEPARATE(f32, float)
SEPARATE(f16, f16)
SEPARATE(bf16, bf16)
