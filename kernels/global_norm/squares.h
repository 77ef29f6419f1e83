/*
 * squares.h: what every variant shares: the norm of all gradients together from sums of squares, what
 * they must be multiplied by so that it is at most `most`, and the kernel that does so. Squares are added
 * in f32 eight at a time, and those sums in f64.
 */
#ifndef LOCKSTEP_GLOBAL_NORM_SQUARES_H
#define LOCKSTEP_GLOBAL_NORM_SQUARES_H

#include "rows.h"
#include "tensors.h"

#define THREADS 256 // of a block that adds or clips

/* Every lane gets the sum of its warp's. */
static __device__ __forceinline__ double sum_warp(double x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

/* norm[0]: the norm; norm[1]: the factor, 1 if nothing need be done. NaN stays. */
static __device__ __forceinline__ void write_norm(float *norm, double squares, float most)
{
    float length = (float)sqrt(squares), factor = most / (length + 1e-6f);
    norm[0] = length;
    norm[1] = factor > 1 ? 1.0f : factor;
}

/* A block for each unit. Gradients that are short enough are not even read. */
template <class T>
static __device__ __forceinline__ void clip_unit(char *grad, const tensor *table, int tensors,
                                                 const float *norm)
{
    float factor = norm[1];
    if (factor == 1)
        return;
    tensor t = table[find_tensor(table, tensors, blockIdx.x)];
    T *x = (T *)(grad + t.grad);
    long long begin = (blockIdx.x - t.first) * UNIT, end = min(begin + UNIT, t.count);
    if (end - begin < UNIT || (size_t)x % (4 * sizeof(T))) {
#pragma unroll 1
        for (long long i = begin + threadIdx.x; i < end; i += THREADS)
            narrow(widen(x[i]) * factor, &x[i]);
        return;
    }
    float v[UNIT / 4 / THREADS][4];
    x += begin + threadIdx.x * 4;
#pragma unroll
    for (int k = 0; k < UNIT / 4 / THREADS; k++)
        load_four(x + k * THREADS * 4, v[k]);
#pragma unroll
    for (int k = 0; k < UNIT / 4 / THREADS; k++) {
#pragma unroll
        for (int e = 0; e < 4; e++)
            v[k][e] *= factor;
        store_four(x + k * THREADS * 4, v[k]);
    }
}

#define CLIP(name, T)                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        name(char *grad, const tensor *table, int tensors, const float *norm)                      \
    {                                                                                              \
        clip_unit<T>(grad, table, tensors, norm);                                                  \
    }

#endif
