/*
 * cuda_names.h: CUDA's own names (threadIdx, __syncthreads, __shfl_down_sync, atomicAdd, float4 ..)
 * for clang 16 or newer without NVIDIA's toolkit. It is put in front of kernels and exercises with
 * -include. nvcc, and clang with the toolkit, know the names by themselves and find nothing here.
 *
 * Every name does what nvcc's PTX does; tests/names compares the two. Here are keywords, vector
 * types, barriers and the operations of a warp; memory, numbers and <math.h> have files of their own.
 */
#ifndef LOCKSTEP_KERNELS_CUDA_NAMES_H
#define LOCKSTEP_KERNELS_CUDA_NAMES_H

#if defined(__clang__) && defined(__CUDA__) && !defined(__NVCC__) &&                               \
    !defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)

#include <limits.h>
#include <stddef.h>

/* Keywords -------------------------------------------------------------------------------------*/

#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#if __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__ /* clang_ptx.sh adds it */
#endif
#define __align__(n) __attribute__((aligned(n)))

#define LK_NAME static __device__ __forceinline__

/* Vector types ---------------------------------------------------------------------------------*/

/* Two and four elements are aligned to their size, but never beyond 16 bytes; one and three are
 * not. */
#define LK_VECTORS(name, type, align2, align4)                                                     \
    struct name##1                                                                                 \
    {                                                                                              \
        type x;                                                                                    \
    };                                                                                             \
    struct __align__(align2) name##2                                                               \
    {                                                                                              \
        type x, y;                                                                                 \
    };                                                                                             \
    struct name##3                                                                                 \
    {                                                                                              \
        type x, y, z;                                                                              \
    };                                                                                             \
    struct __align__(align4) name##4                                                               \
    {                                                                                              \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    LK_NAME name##1 make_##name##1(type x)                                                         \
    {                                                                                              \
        return name##1 {x};                                                                        \
    }                                                                                              \
    LK_NAME name##2 make_##name##2(type x, type y)                                                 \
    {                                                                                              \
        return name##2 {x, y};                                                                     \
    }                                                                                              \
    LK_NAME name##3 make_##name##3(type x, type y, type z)                                         \
    {                                                                                              \
        return name##3 {x, y, z};                                                                  \
    }                                                                                              \
    LK_NAME name##4 make_##name##4(type x, type y, type z, type w)                                 \
    {                                                                                              \
        return name##4 {x, y, z, w};                                                               \
    }
LK_VECTORS(char, signed char, 2, 4)
LK_VECTORS(uchar, unsigned char, 2, 4)
LK_VECTORS(short, short, 4, 8)
LK_VECTORS(ushort, unsigned short, 4, 8)
LK_VECTORS(int, int, 8, 16)
LK_VECTORS(uint, unsigned, 8, 16)
LK_VECTORS(long, long, 16, 16)
LK_VECTORS(ulong, unsigned long, 16, 16)
LK_VECTORS(longlong, long long, 16, 16)
LK_VECTORS(ulonglong, unsigned long long, 16, 16)
LK_VECTORS(float, float, 8, 16)
LK_VECTORS(double, double, 16, 16)
#undef LK_VECTORS

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1)
        : x(a), y(b), z(c)
    {
    }
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    __host__ __device__ constexpr operator uint3() const
    {
        return uint3{x, y, z};
    }
};

/* threadIdx, blockIdx, blockDim, gridDim, warpSize: a header of clang's own declares them, but
 * leaves it to us how a whole one becomes a vector. */
#include <__clang_cuda_builtin_vars.h>

#define LK_WHOLE(name)                                                                             \
    __device__ inline __cuda_builtin_##name##_t::operator dim3() const                             \
    {                                                                                              \
        return dim3(x, y, z);                                                                      \
    }                                                                                              \
    __device__ inline __cuda_builtin_##name##_t::operator uint3() const                            \
    {                                                                                              \
        return uint3{x, y, z};                                                                     \
    }
LK_WHOLE(threadIdx)
LK_WHOLE(blockIdx)
LK_WHOLE(blockDim)
LK_WHOLE(gridDim)
#undef LK_WHOLE

extern "C" __device__ int printf(const char *format, ...); /* clang makes the call of it */

/* Barriers and fences; clang has __syncthreads built in ----------------------------------------*/

LK_NAME int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
LK_NAME int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
LK_NAME int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
LK_NAME void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
LK_NAME void __threadfence_block(void) { __nvvm_membar_cta(); }
LK_NAME void __threadfence(void) { __nvvm_membar_gl(); }
LK_NAME void __threadfence_system(void) { __nvvm_membar_sys(); }

#if __CUDA_ARCH__ >= 900
LK_NAME void cudaGridDependencySynchronize(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
LK_NAME void cudaTriggerProgrammaticLaunchCompletion(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#endif

/* Shuffles: 64 bits travel as two halves -------------------------------------------------------*/

LK_NAME unsigned long long lk_join(unsigned low, unsigned high)
{
    return (unsigned long long)high << 32 | low;
}

/* The last operand has the highest lane (lowest, going up) and the mask of lanes that a group of
 * width lanes does not share. */
#define LK_SHUFFLES(name, builtin, step, last)                                                     \
    LK_NAME int name(unsigned mask, int value, step by, int width = 32)                            \
    {                                                                                              \
        return builtin(mask, value, (int)by, (32 - width) << 8 | last);                            \
    }                                                                                              \
    LK_NAME unsigned name(unsigned mask, unsigned value, step by, int width = 32)                  \
    {                                                                                              \
        return (unsigned)name(mask, (int)value, by, width);                                        \
    }                                                                                              \
    LK_NAME unsigned long long name(unsigned mask, unsigned long long value, step by,              \
                                    int width = 32)                                                \
    {                                                                                              \
        unsigned low = name(mask, (unsigned)value, by, width);                                     \
        return lk_join(low, name(mask, (unsigned)(value >> 32), by, width));                       \
    }                                                                                              \
    LK_SHUFFLE_AS(name, step, long long, unsigned long long)                                       \
    LK_SHUFFLE_AS(name, step, long, unsigned long long)                                            \
    LK_SHUFFLE_AS(name, step, unsigned long, unsigned long long)                                   \
    LK_SHUFFLE_AS(name, step, float, unsigned)                                                     \
    LK_SHUFFLE_AS(name, step, double, unsigned long long)
#define LK_SHUFFLE_AS(name, step, type, bits)                                                      \
    LK_NAME type name(unsigned mask, type value, step by, int width = 32)                          \
    {                                                                                              \
        return __builtin_bit_cast(type, name(mask, __builtin_bit_cast(bits, value), by, width));   \
    }
LK_SHUFFLES(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 31)
LK_SHUFFLES(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned, 31)
LK_SHUFFLES(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned, 0)
LK_SHUFFLES(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 31)
#undef LK_SHUFFLES
#undef LK_SHUFFLE_AS

/* Votes, matches, reductions -------------------------------------------------------------------*/

LK_NAME unsigned __ballot_sync(unsigned mask, int predicate)
{
    return __nvvm_vote_ballot_sync(mask, predicate);
}
LK_NAME int __any_sync(unsigned mask, int predicate)
{
    return __nvvm_vote_any_sync(mask, predicate);
}
LK_NAME int __all_sync(unsigned mask, int predicate)
{
    return __nvvm_vote_all_sync(mask, predicate);
}
LK_NAME unsigned __activemask(void)
{
    unsigned lanes;
    asm volatile("activemask.b32 %0;" : "=r"(lanes));
    return lanes;
}

#define LK_MATCHES(type, bits, size)                                                               \
    LK_NAME unsigned __match_any_sync(unsigned mask, type value)                                   \
    {                                                                                              \
        return __nvvm_match_any_sync_##size(mask, __builtin_bit_cast(bits, value));                \
    }                                                                                              \
    LK_NAME unsigned __match_all_sync(unsigned mask, type value, int *all)                         \
    {                                                                                              \
        return __nvvm_match_all_sync_##size##p(mask, __builtin_bit_cast(bits, value), all);        \
    }
LK_MATCHES(int, unsigned, i32)
LK_MATCHES(unsigned, unsigned, i32)
LK_MATCHES(float, unsigned, i32)
LK_MATCHES(long, unsigned long long, i64)
LK_MATCHES(unsigned long, unsigned long long, i64)
LK_MATCHES(long long, unsigned long long, i64)
LK_MATCHES(unsigned long long, unsigned long long, i64)
LK_MATCHES(double, unsigned long long, i64)
#undef LK_MATCHES

#if __CUDA_ARCH__ >= 800
#define LK_REDUCTION(name, operation, type)                                                        \
    LK_NAME type __reduce_##name##_sync(unsigned mask, type value)                                 \
    {                                                                                              \
        type result;                                                                               \
        asm volatile("redux.sync." operation " %0, %1, %2;"                                        \
                     : "=r"(result)                                                                \
                     : "r"(value), "r"(mask));                                                     \
        return result;                                                                             \
    }
LK_REDUCTION(add, "add.u32", unsigned)
LK_REDUCTION(add, "add.s32", int)
LK_REDUCTION(min, "min.u32", unsigned)
LK_REDUCTION(min, "min.s32", int)
LK_REDUCTION(max, "max.u32", unsigned)
LK_REDUCTION(max, "max.s32", int)
LK_REDUCTION(and, "and.b32", unsigned)
LK_REDUCTION(or, "or.b32", unsigned)
LK_REDUCTION(xor, "xor.b32", unsigned)
#undef LK_REDUCTION
#endif

#include "cuda_number_names.h"
#include "cuda_math_names.h"
/* It uses the bits of numbers. */
#include "cuda_memory_names.h"

#undef LK_NAME

#endif
#endif
