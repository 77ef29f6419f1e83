/*
 * global_atomics.cu: a thread for eight elements, and each warp adds its sum to one number in memory:
 * a million of them stand in line. The order of additions, and so the last bits, may differ from run to
 * run.
 */
// arch: sm_80
#include "squares.h"

template <class T>
static __device__ __forceinline__ void add_unit(const char *grad, const tensor *table, int tensors,
                                                double *sum)
{
    tensor t = table[find_tensor(table, tensors, blockIdx.x)];
    const T *x = (const T *)(grad + t.grad);
    long long begin = (blockIdx.x - t.first) * UNIT, end = min(begin + UNIT, t.count);
    float mine = 0;
#pragma unroll 1
    for (long long i = begin + threadIdx.x; i < end; i += THREADS)
        mine += widen(x[i]) * widen(x[i]);
    double all = sum_warp(mine);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, all);
}

#define ADD(name, T)                                                                               \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        name(const char *grad, const tensor *table, int tensors, long long units, double *sum)     \
    {                                                                                              \
        add_unit<T>(grad, table, tensors, sum);                                                    \
    }
ADD(squares_f32, float)
ADD(squares_bf16, bf16)

extern "C" __global__ void finish(const double *sum, int parts, float most, float *norm)
{
    write_norm(norm, *sum, most);
}

CLIP(clip_f32, float)
CLIP(clip_bf16, bf16)
