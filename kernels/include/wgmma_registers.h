/*
 * wgmma_registers.h: products of a warpgroup as in wgmma.h, with the first factor from registers:
 * what one product has left there is a factor of the next, as attention needs it. Also sums of
 * widths that only attention has.
 */
#ifndef LOCKSTEP_KERNELS_WGMMA_REGISTERS_H
#define LOCKSTEP_KERNELS_WGMMA_REGISTERS_H

#include "wgmma.h"

/* clang-format off */
#define WGMMA_R_32_40 \
    "%32, %33, %34, %35, %36, %37, %38, %39"
#define WGMMA_R_32_48 \
    WGMMA_R_32_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_R_64_88 \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87"
#define WGMMA_D_80 WGMMA_R_0_32 ", " WGMMA_R_32_40
#define WGMMA_D_96 WGMMA_R_0_32 ", " WGMMA_R_32_48
#define WGMMA_D_176 WGMMA_D_128 ", " WGMMA_R_64_88
#define WGMMA_40(d, i) WGMMA_32(d, i), WGMMA_8(d, i + 32)
#define WGMMA_48(d, i) WGMMA_32(d, i), WGMMA_16(d, i + 32)
#define WGMMA_88(d, i) WGMMA_64(d, i), WGMMA_16(d, i + 64), WGMMA_8(d, i + 80)

#define WGMMA_MORE_PRODUCTS(type)                                                                  \
    WGMMA_PRODUCT(type, 80, 40, 40, 41, 42, 43, 44)                                                \
    WGMMA_PRODUCT(type, 176, 88, 88, 89, 90, 91, 92)
WGMMA_MORE_PRODUCTS(bf16)
WGMMA_MORE_PRODUCTS(f16)

/* sums += A B, or = A B unless `add`. a[2 h + e] of thread t has two numbers: of row 16 (t / 32) +
 * t / 4 % 8 + 8 e, at k t % 4 * 2 + 8 h and the next. They must not change before the product has
 * been waited for. DOWN_B: B's tile lies across k. */
#define WGMMA_FROM_REGISTERS(type, n, first, a0, a1, a2, a3, b_at, add_at, down_b_at)              \
    template <int DOWN_B>                                                                          \
    static __device__ __forceinline__ void wgmma_##type##_from_registers(                          \
        float (&sums)[first], const unsigned (&a)[4], unsigned long long b, int add)               \
    {                                                                                              \
        asm volatile("{ .reg .pred add; setp.ne.b32 add, %" #add_at ", 0; "                        \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type             \
                     " {" WGMMA_D_##n "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b_at       \
                     ", add, 1, 1, %" #down_b_at "; }"                                             \
                     : WGMMA_##first(sums, 0)                                                      \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add),               \
                       "n"(DOWN_B));                                                               \
    }
#define WGMMA_ALL_FROM_REGISTERS(type)                                                             \
    WGMMA_FROM_REGISTERS(type, 64, 32, 32, 33, 34, 35, 36, 37, 38)                                 \
    WGMMA_FROM_REGISTERS(type, 96, 48, 48, 49, 50, 51, 52, 53, 54)                                 \
    WGMMA_FROM_REGISTERS(type, 128, 64, 64, 65, 66, 67, 68, 69, 70)                                \
    WGMMA_FROM_REGISTERS(type, 256, 128, 128, 129, 130, 131, 132, 133, 134)
WGMMA_ALL_FROM_REGISTERS(bf16)
WGMMA_ALL_FROM_REGISTERS(f16)
/* clang-format on */

#endif
