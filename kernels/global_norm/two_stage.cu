/*
 * two_stage.cu: a grid that fits the GPU walks over all units, 16 bytes at a time; each block stores its
 * sum, and one block adds those in a fixed order. The same bits in every run, and no atomics.
 */
// arch: sm_80
#include "squares.h"

#define BLOCKS_PER_SM 8 // tune: 4 8

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

template <class T>
static __device__ __forceinline__ void add_units(const char *grad, const tensor *table, int tensors,
                                                 long long units, double *parts)
{
    double mine = 0;
#pragma unroll 1
    for (long long unit = blockIdx.x; unit < units; unit += gridDim.x) {
        const tensor *t = &table[find_tensor(table, tensors, unit)];
        long long begin = (unit - t->first) * UNIT;
        mine += squares_of_thread((const T *)(grad + t->grad), begin, min(begin + UNIT, t->count));
    }
    mine = sum_of_block(mine);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = mine;
}

#define ADD(name, T)                                                                               \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        name(const char *grad, const tensor *table, int tensors, long long units, double *parts)   \
    {                                                                                              \
        add_units<T>(grad, table, tensors, units, parts);                                          \
    }
ADD(squares_f32, float)
ADD(squares_bf16, bf16)

extern "C" __global__ void __launch_bounds__(THREADS)
    finish(const double *sum, int parts, float most, float *norm)
{
    double mine = 0;
    for (int i = threadIdx.x; i < parts; i += THREADS)
        mine += sum[i];
    mine = sum_of_block(mine);
    if (threadIdx.x == 0)
        write_norm(norm, mine, most);
}

CLIP(clip_f32, float)
CLIP(clip_bf16, bf16)
