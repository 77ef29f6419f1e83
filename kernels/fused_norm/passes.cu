/*
 * passes.cu: backward, for every length and alignment: a pass by columns for gamma and beta, one by rows
 * for the gradients of the residual and of x, one by columns for the bias. Number by number.
 */
// arch: sm_80
#include "bands.h"
#include "chain.h"

template <class T, bool LAYER>
static __device__ __forceinline__ void by_rows(chain_gradient<T> g)
{
    __shared__ float2 of_warp[32];
    gradient_job<T> a = g.norm;
    long long at = blockIdx.x * a.cols;
    row_stats st = stats_of<T, LAYER>(a, blockIdx.x);
    float2 sums = make_float2(0, 0);
    for (long long k = threadIdx.x; k < a.cols; k += blockDim.x) {
        float w = widen(a.dy[at + k]) * widen(a.gamma[k]);
        sums.x = fmaf(w, normal<LAYER>(widen(a.x[at + k]), st), sums.x);
        sums.y += w;
    }
    sums = sum_block<LAYER>(sums, of_warp);
    float2 means = make_float2(sums.x / a.cols, sums.y / a.cols);
    for (long long k = threadIdx.x; k < a.cols; k += blockDim.x) {
        float w = widen(a.dy[at + k]) * widen(a.gamma[k]);
        float slope = slope_of<LAYER>(st, means, normal<LAYER>(widen(a.x[at + k]), st), w,
                                      a.dsum ? widen(a.dsum[at + k]) : 0.0f);
        narrow(slope, &a.dx[at + k]);
        narrow(is_dropped(g.d, at + k) ? 0.0f : slope * g.d.scale, &g.dx[at + k]);
    }
}

/* A thread for each column, which block y follows through its rows; parts: dbias, dgamma, dbeta. Those of
 * the norm come before by_rows, which may write over dy; that of the bias after it. */
template <class T, bool LAYER>
static __device__ __forceinline__ void by_columns(chain_gradient<T> g, bool of_bias)
{
    gradient_job<T> a = g.norm;
    long long col = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long each = (a.rows + gridDim.y - 1) / gridDim.y, row = blockIdx.y * each;
    long long end = min(row + each, a.rows), all = gridDim.y * a.cols;
    float first = 0, second = 0;
    if (col >= a.cols)
        return;
    for (; row < end; row++) {
        long long at = row * a.cols + col;
        float d = widen(of_bias ? g.dx[at] : a.dy[at]);
        if (of_bias)
            first += d;
        else
            first = fmaf(d, normal<LAYER>(widen(a.x[at]), stats_of<T, LAYER>(a, row)), first);
        second += d;
    }
    float *to = a.partial + blockIdx.y * a.cols + col;
    to[of_bias ? 0 : all] = first;
    if (LAYER && !of_bias)
        to[2 * all] = second;
}

#define PASSES(name, T, LAYER)                                                                     \
    extern "C" __global__ void __launch_bounds__(1024) by_rows_##name(BACK_ARGUMENTS(T))           \
    {                                                                                              \
        by_rows<T, LAYER>(BACK(T));                                                                \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256) sums_of_norm_##name(BACK_ARGUMENTS(T))       \
    {                                                                                              \
        by_columns<T, LAYER>(BACK(T), false);                                                      \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256) sums_of_bias_##name(BACK_ARGUMENTS(T))       \
    {                                                                                              \
        by_columns<T, LAYER>(BACK(T), true);                                                       \
    }
FOR_TYPES(PASSES)
ADD_BANDS(add_bands_f32, float)
ADD_BANDS(add_bands_f16, f16)
ADD_BANDS(add_bands_bf16, bf16)
