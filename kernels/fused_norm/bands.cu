/*
 * bands.cu: backward in one pass: a block walks down a band of rows, of which each thread has the same
 * columns: sum, dy and dsum are read once, both gradients written, and the sums for gamma, beta and the
 * bias stay in registers until the band ends. Rows of whole vectors, as long as a block's threads hold.
 */
// arch: sm_80
#include "bands.h"
#include "chain.h"

#define VECTORS 2 // tune: 1 2
#define THREADS 512 // of a block, at most

template <class T> struct columns {
    float gamma[PER<T>], dgamma[PER<T>], dbeta[PER<T>], dbias[PER<T>];
};

/* A row's terms in registers, from the load to the row's means. */
template <class T> struct terms_of_row {
    float h[VECTORS][PER<T>], w[VECTORS][PER<T>];
    uint4 dsum[VECTORS];
};

template <class T, bool LAYER>
static __device__ __forceinline__ float2 take_row(const gradient_job<T> &a, long long row,
                                                  row_stats st, columns<T> (&c)[VECTORS],
                                                  terms_of_row<T> &t)
{
    float2 sums = make_float2(0, 0);
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        long long col = ((long long)k * blockDim.x + threadIdx.x) * PER<T>;
        if (col >= a.cols)
            continue;
        widen_all<T>(load_once((const uint4 *)(a.x + row * a.cols + col)), t.h[k]);
        widen_all<T>(load_once((const uint4 *)(a.dy + row * a.cols + col)), t.w[k]);
        t.dsum[k] = make_uint4(0, 0, 0, 0);
        if (a.dsum)
            t.dsum[k] = load_once((const uint4 *)(a.dsum + row * a.cols + col));
#pragma unroll
        for (int i = 0; i < PER<T>; i++) {
            float dy = t.w[k][i];
            t.h[k][i] = normal<LAYER>(t.h[k][i], st);
            t.w[k][i] = dy * c[k].gamma[i];
            c[k].dgamma[i] = fmaf(dy, t.h[k][i], c[k].dgamma[i]);
            c[k].dbeta[i] += dy;
            sums.x = fmaf(t.w[k][i], t.h[k][i], sums.x);
            sums.y += t.w[k][i];
        }
    }
    return sums;
}

template <class T, bool LAYER>
static __device__ __forceinline__ void put_row(const chain_gradient<T> &g, long long row, row_stats st,
                                               float2 sums, columns<T> (&c)[VECTORS],
                                               terms_of_row<T> &t)
{
    const gradient_job<T> &a = g.norm;
    float2 means = make_float2(sums.x / a.cols, sums.y / a.cols);
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        long long col = ((long long)k * blockDim.x + threadIdx.x) * PER<T>, at = row * a.cols + col;
        float dsum[PER<T>], dx[PER<T>];
        if (col >= a.cols)
            continue;
        uint4 words = half_words<PER<T>>(g.d.stream, at);
        widen_all<T>(t.dsum[k], dsum);
#pragma unroll
        for (int i = 0; i < PER<T>; i++) {
            float slope = slope_of<LAYER>(st, means, t.h[k][i], t.w[k][i], dsum[i]);
            dsum[i] = slope;
            dx[i] = drop(g.d, words, i, slope);
            c[k].dbias[i] += dx[i];
        }
        store_stream((uint4 *)(a.dx + at), narrow_all<T>(dsum));
        store_stream((uint4 *)(g.dx + at), narrow_all<T>(dx));
    }
}

template <class T, bool LAYER>
static __device__ __forceinline__ void down_the_band(chain_gradient<T> g)
{
    __shared__ float2 of_warp[2][32];
    const gradient_job<T> &a = g.norm;
    long long each = (a.rows + gridDim.x - 1) / gridDim.x, first = blockIdx.x * each;
    long long end = min(first + each, a.rows), all = gridDim.x * a.cols;
    columns<T> c[VECTORS] = {};
    terms_of_row<T> t;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        long long col = ((long long)k * blockDim.x + threadIdx.x) * PER<T>;
        if (col < a.cols)
            widen_all<T>(*(const uint4 *)(a.gamma + col), c[k].gamma);
    }
#pragma unroll 1
    for (long long row = first; row < end; row++) {
        row_stats st = stats_of<T, LAYER>(a, row);
        float2 sums = take_row<T, LAYER>(a, row, st, c, t);
        sums = sum_block<LAYER>(sums, of_warp[row % 2]); // the other one may still be read
        put_row<T, LAYER>(g, row, st, sums, c, t);
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        long long col = ((long long)k * blockDim.x + threadIdx.x) * PER<T>;
        float *to = a.partial + blockIdx.x * a.cols + col;
        if (col >= a.cols)
            continue;
        store_part(to, c[k].dbias);
        store_part(to + all, c[k].dgamma);
        if (LAYER)
            store_part(to + 2 * all, c[k].dbeta);
    }
}

#define BANDS(name, T, LAYER)                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS) bands_##name(BACK_ARGUMENTS(T))          \
    {                                                                                              \
        down_the_band<T, LAYER>(BACK(T));                                                          \
    }
FOR_TYPES(BANDS)
ADD_BANDS(add_bands_f32, float)
ADD_BANDS(add_bands_f16, f16)
ADD_BANDS(add_bands_bf16, bf16)
