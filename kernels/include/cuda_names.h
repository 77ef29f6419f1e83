/*
 * cuda_names.h: CUDA's own names (threadIdx, __syncthreads, atomicAdd ..) for clang without
 * NVIDIA's toolkit. The course's exercises are written with them, as CUDA programs elsewhere are;
 * it is put in front of an exercise with -include. nvcc knows the names by itself. The kernel
 * library does not use it: its kernels have device.h.
 */
#ifndef LOCKSTEP_KERNELS_CUDA_NAMES_H
#define LOCKSTEP_KERNELS_CUDA_NAMES_H

/* As device.h has them, word by word, so that both can be used together. */
#define __global__           __attribute__((global))
#define __device__           __attribute__((device))
#define __shared__           __attribute__((shared))
#define __constant__         __attribute__((constant))
#define __forceinline__      __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n)         __attribute__((aligned(n)))
#define __restrict__         __restrict

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    __device__ dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct __align__(8) float2 {
    float x, y;
};
struct __align__(16) float4 {
    float x, y, z, w;
};
struct __align__(8) int2 {
    int x, y;
};
struct __align__(16) int4 {
    int x, y, z, w;
};

/* threadIdx, blockIdx, blockDim, gridDim, warpSize: a header of clang's own. __syncthreads is built
 * into it. */
#include <__clang_cuda_builtin_vars.h>

#define LK_NAME static __device__ __forceinline__

LK_NAME float4 make_float4(float x, float y, float z, float w)
{
    float4 made = {x, y, z, w};
    return made;
}
LK_NAME void __syncwarp(unsigned mask = 0xffffffffu)
{
    asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
LK_NAME void __threadfence(void)
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/* Numbers */
LK_NAME int min(int a, int b) { return a < b ? a : b; }
LK_NAME int max(int a, int b) { return a > b ? a : b; }
LK_NAME float fminf(float a, float b) { return __builtin_fminf(a, b); }
LK_NAME float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
LK_NAME float fabsf(float a) { return __builtin_fabsf(a); }
LK_NAME float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LK_NAME float sqrtf(float a) { return __builtin_sqrtf(a); }
LK_NAME float __expf(float a)
{
    float power, product = a * 1.4426950408889634f;
    asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(product));
    return power;
}

/* Atomics and shuffles */
LK_NAME int atomicAdd(int *at, int value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
LK_NAME unsigned atomicAdd(unsigned *at, unsigned value)
{
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
LK_NAME float atomicAdd(float *at, float value)
{
    float old;
    asm volatile("atom.add.f32 %0, [%1], %2;" : "=f"(old) : "l"(at), "f"(value) : "memory");
    return old;
}
#define LK_SHUFFLE_NAME(name, mode, limit)                                                         \
    LK_NAME unsigned name(unsigned mask, unsigned value, unsigned by)                              \
    {                                                                                              \
        unsigned result;                                                                           \
        asm volatile("shfl.sync." mode ".b32 %0, %1, %2, " limit ", %3;"                           \
                     : "=r"(result)                                                                \
                     : "r"(value), "r"(by), "r"(mask));                                            \
        return result;                                                                             \
    }                                                                                              \
    LK_NAME int name(unsigned mask, int value, unsigned by)                                        \
    {                                                                                              \
        return (int)name(mask, (unsigned)value, by);                                               \
    }                                                                                              \
    LK_NAME float name(unsigned mask, float value, unsigned by)                                    \
    {                                                                                              \
        return __builtin_bit_cast(float, name(mask, __builtin_bit_cast(unsigned, value), by));     \
    }
LK_SHUFFLE_NAME(__shfl_sync, "idx", "31")
LK_SHUFFLE_NAME(__shfl_down_sync, "down", "31")
LK_SHUFFLE_NAME(__shfl_up_sync, "up", "0")
LK_SHUFFLE_NAME(__shfl_xor_sync, "bfly", "31")

#undef LK_SHUFFLE_NAME
#undef LK_NAME
#endif
