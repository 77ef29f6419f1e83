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

/* Of eight elements at most that a thread has of a unit: vectors where the tensor allows it. */
template <class T>
static __device__ __forceinline__ float squares_of_thread(const T *x, long long begin, long long end)
{
    float sum = 0;
    if (end - begin < UNIT || (size_t)x % 16) {
#pragma unroll 1
        for (long long i = begin + threadIdx.x; i < end; i += THREADS)
            sum += widen(x[i]) * widen(x[i]);
        return sum;
    }
    const int vectors = UNIT / THREADS / PER<T>;
    uint4 v[vectors];
#pragma unroll
    for (int k = 0; k < vectors; k++)
        v[k] = load_stream((const uint4 *)(x + begin + (k * THREADS + threadIdx.x) * PER<T>));
#pragma unroll
    for (int k = 0; k < vectors; k++) {
        float number[PER<T>];
        widen_all<T>(v[k], number);
#pragma unroll
        for (int e = 0; e < PER<T>; e++)
            sum = fmaf(number[e], number[e], sum);
    }
    return sum;
}

/* The block's sum, in thread 0. */
static __device__ __forceinline__ double sum_of_block(double mine)
{
    __shared__ double of_warp[THREADS / 32];
    mine = sum_warp(mine);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    double all = 0;
    for (int w = 0; threadIdx.x == 0 && w < THREADS / 32; w++)
        all += of_warp[w];
    return all;
}

/* norm[0]: the norm; norm[1]: the factor, 1 if nothing need be done. NaN stays. */
static __device__ __forceinline__ void write_norm(float *norm, double squares, float most)
{
    float length = (float)sqrt(squares), factor = most / (length + 1e-6f);
    norm[0] = length;
    norm[1] = factor > 1 ? 1.0f : factor;
}

/* The first stage, with the file's own add_units: a sum for each block. */
#define ADD_UNITS(name, T)                                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        name(const char *grad, const tensor *table, int tensors, long long units, double *parts)   \
    {                                                                                              \
        add_units<T>(grad, table, tensors, units, parts);                                          \
    }

/* One block adds the sums of all. */
#define FINISH                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        finish(const double *sum, int parts, float most, float *norm)                              \
    {                                                                                              \
        double mine = 0;                                                                           \
        for (int i = threadIdx.x; i < parts; i += THREADS)                                         \
            mine += sum[i];                                                                        \
        mine = sum_of_block(mine);                                                                 \
        if (threadIdx.x == 0)                                                                      \
            write_norm(norm, mine, most);                                                          \
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
