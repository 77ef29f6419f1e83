/*
 * wgmma8.h: products of 8-bit tiles by a warpgroup (sm_90a): e4m3 and e5m2 into f32, s8 into s32.
 * Both factors lie along k, 128 elements to a line of the swizzle; a step of k is 32 of them. Sums
 * of floats keep 14 bits (kernels/gemm_scaled/README.md), those of integers are exact. wgmma.h has
 * the rest.
 */
#ifndef LOCKSTEP_KERNELS_WGMMA8_H
#define LOCKSTEP_KERNELS_WGMMA8_H

#include "wgmma.h"

template <int count> static __device__ __forceinline__ void wgmma_hold(int (&sums)[count])
{
#pragma unroll
    for (int i = 0; i < count; i++)
        asm volatile("" : "+r"(sums[i])::"memory");
}

/* clang-format off */
#ifndef WGMMA_D_96 /* wgmma_registers.h has it too */
#define WGMMA_D_96 WGMMA_R_0_32 ", %32, %33, %34, %35, %36, %37, %38, %39, " \
    "%40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_48(d, i) WGMMA_32(d, i), WGMMA_16(d, i + 32)
#endif
#define WGMMA_S4(d, i) "+r"((d)[i]), "+r"((d)[i + 1]), "+r"((d)[i + 2]), "+r"((d)[i + 3])
#define WGMMA_S8(d, i) WGMMA_S4(d, i), WGMMA_S4(d, i + 4)
#define WGMMA_S16(d, i) WGMMA_S8(d, i), WGMMA_S8(d, i + 8)
#define WGMMA_S32(d, i) WGMMA_S16(d, i), WGMMA_S16(d, i + 16)
#define WGMMA_S48(d, i) WGMMA_S32(d, i), WGMMA_S16(d, i + 32)
#define WGMMA_S64(d, i) WGMMA_S32(d, i), WGMMA_S32(d, i + 32)
#define WGMMA_S96(d, i) WGMMA_S64(d, i), WGMMA_S32(d, i + 64)
#define WGMMA_S128(d, i) WGMMA_S64(d, i), WGMMA_S64(d, i + 64)
/* clang-format on */

/* sums += A B, or = A B unless `add`. `first` is the number of sums, and so the number of the first
 * operand after them; `signs` are the factors' signs, which integers do not have. */
#define WGMMA8_PRODUCT(types, signs, list, n, first, a_at, b_at, add_at)                           \
    static __device__ __forceinline__ void multiply(sum(&sums)[first], unsigned long long a,       \
                                                    unsigned long long b, int add)                 \
    {                                                                                              \
        asm volatile("{ .reg .pred add; setp.ne.b32 add, %" #add_at ", 0; "                        \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k32." types " {" WGMMA_D_##n          \
                     "}, %" #a_at ", %" #b_at ", add" signs "; }"                                  \
                     : list##first(sums, 0)                                                        \
                     : "l"(a), "l"(b), "r"(add));                                                  \
    }
#define WGMMA8(name, type, types, signs, list)                                                     \
    struct wgmma_##name {                                                                          \
        typedef type sum;                                                                          \
        WGMMA8_PRODUCT(types, signs, list, 8, 4, 4, 5, 6)                                          \
        WGMMA8_PRODUCT(types, signs, list, 16, 8, 8, 9, 10)                                        \
        WGMMA8_PRODUCT(types, signs, list, 32, 16, 16, 17, 18)                                     \
        WGMMA8_PRODUCT(types, signs, list, 64, 32, 32, 33, 34)                                     \
        WGMMA8_PRODUCT(types, signs, list, 96, 48, 48, 49, 50)                                     \
        WGMMA8_PRODUCT(types, signs, list, 128, 64, 64, 65, 66)                                    \
        WGMMA8_PRODUCT(types, signs, list, 192, 96, 96, 97, 98)                                    \
        WGMMA8_PRODUCT(types, signs, list, 256, 128, 128, 129, 130)                                \
    };
WGMMA8(e4m3, float, "f32.e4m3.e4m3", ", 1, 1", WGMMA_)
WGMMA8(e4m3_e5m2, float, "f32.e4m3.e5m2", ", 1, 1", WGMMA_)
WGMMA8(e5m2_e4m3, float, "f32.e5m2.e4m3", ", 1, 1", WGMMA_)
WGMMA8(s8, int, "s32.s8.s8", "", WGMMA_S)

#endif
