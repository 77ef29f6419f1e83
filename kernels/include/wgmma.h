/*
 * wgmma.h: products of tiles by a warpgroup, four warps that act together (sm_90a). Both factors lie
 * in shared memory and are named by descriptors; the sums are spread over the registers of the 128
 * threads. The products run beside the program: between wgmma_commit and the wgmma_wait that
 * answers it, nobody may touch the sums or the tiles.
 *
 * A tile of A is 64 rows, a tile of B is N columns, and one step of k is 32 bytes long. Where k runs
 * along a tile's rows ("along k"), a row of 128 bytes is one line of the swizzle: its eight 16-byte
 * chunks are permuted by XOR with the line's number, which is how TMA stores it. Where k runs down
 * the lines ("across k", 16-bit types only), a line holds 64 elements of one k.
 *
 * Thread t of the warpgroup holds, in sums[8 i + 4 j .. of 64 x N], rows 16 (t / 32) + t / 4 % 8 and
 * eight below it, columns 8 c + t % 4 * 2 and the next: sums[4 c + 2 h + e] is row + 8 h, column + e.
 */
#ifndef LOCKSTEP_KERNELS_WGMMA_H
#define LOCKSTEP_KERNELS_WGMMA_H

#include "device.h"

/* The tile at `shared`, aligned to 1024 bytes plus whole steps of k along a line. Groups of eight
 * lines are `lines` bytes apart; across k, groups of 64 elements are `groups` bytes apart. */
static __device__ __forceinline__ unsigned long long wgmma_tile(unsigned shared, unsigned lines,
                                                                unsigned groups)
{
    return (unsigned long long)(shared >> 4 & 0x3fff) | (unsigned long long)(groups >> 4) << 16 |
           (unsigned long long)(lines >> 4) << 32 | 1ull << 62; /* swizzle of 128 bytes */
}

/* Before the first product, and whenever other code has written the sums. */
static __device__ __forceinline__ void wgmma_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
static __device__ __forceinline__ void wgmma_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/* Until at most `groups` committed groups are under way. */
template <int groups> static __device__ __forceinline__ void wgmma_wait(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}
/* The compiler must not move a use of the sums across this point. */
template <int count> static __device__ __forceinline__ void wgmma_hold(float (&sums)[count])
{
#pragma unroll
    for (int i = 0; i < count; i++)
        asm volatile("" : "+f"(sums[i])::"memory");
}

/* Lists of registers, as PTX and as the compiler wants them ------------------------------------*/

/* clang-format off */
#define WGMMA_R_0_4 \
    "%0, %1, %2, %3"
#define WGMMA_R_0_8 \
    "%0, %1, %2, %3, %4, %5, %6, %7"
#define WGMMA_R_0_16 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_R_0_32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_R_32_64 \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_R_64_96 \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA_R_96_112 \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define WGMMA_R_96_128 \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define WGMMA_D_8 WGMMA_R_0_4
#define WGMMA_D_16 WGMMA_R_0_8
#define WGMMA_D_32 WGMMA_R_0_16
#define WGMMA_D_64 WGMMA_R_0_32
#define WGMMA_D_128 WGMMA_R_0_32 ", " WGMMA_R_32_64
#define WGMMA_D_192 WGMMA_D_128 ", " WGMMA_R_64_96
#define WGMMA_D_224 WGMMA_D_192 ", " WGMMA_R_96_112
#define WGMMA_D_256 WGMMA_D_192 ", " WGMMA_R_96_128

#define WGMMA_4(d, i) "+f"((d)[i]), "+f"((d)[i + 1]), "+f"((d)[i + 2]), "+f"((d)[i + 3])
#define WGMMA_8(d, i) WGMMA_4(d, i), WGMMA_4(d, i + 4)
#define WGMMA_16(d, i) WGMMA_8(d, i), WGMMA_8(d, i + 8)
#define WGMMA_32(d, i) WGMMA_16(d, i), WGMMA_16(d, i + 16)
#define WGMMA_64(d, i) WGMMA_32(d, i), WGMMA_32(d, i + 32)
#define WGMMA_96(d, i) WGMMA_64(d, i), WGMMA_32(d, i + 64)
#define WGMMA_112(d, i) WGMMA_96(d, i), WGMMA_16(d, i + 96)
#define WGMMA_128(d, i) WGMMA_64(d, i), WGMMA_64(d, i + 64)

/* Products -------------------------------------------------------------------------------------*/

/* sums += A B, or = A B unless `add`. DOWN_A, DOWN_B: the tile lies across k. `first` is the number
 * of sums, and so the number of the first operand after them. */
#define WGMMA_PRODUCT(type, n, first, a_at, b_at, add_at, down_a_at, down_b_at)                    \
    template <int DOWN_A, int DOWN_B>                                                              \
    static __device__ __forceinline__ void wgmma_##type(                                           \
        float (&sums)[first], unsigned long long a, unsigned long long b, int add)                 \
    {                                                                                              \
        asm volatile("{ .reg .pred add; setp.ne.b32 add, %" #add_at ", 0; "                        \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type             \
                     " {" WGMMA_D_##n "}, %" #a_at ", %" #b_at ", add, 1, 1, %" #down_a_at         \
                     ", %" #down_b_at "; }"                                                        \
                     : WGMMA_##first(sums, 0)                                                      \
                     : "l"(a), "l"(b), "r"(add), "n"(DOWN_A), "n"(DOWN_B));                        \
    }
#define WGMMA_PRODUCTS(type)                                                                       \
    WGMMA_PRODUCT(type, 8, 4, 4, 5, 6, 7, 8)                                                       \
    WGMMA_PRODUCT(type, 16, 8, 8, 9, 10, 11, 12)                                                   \
    WGMMA_PRODUCT(type, 32, 16, 16, 17, 18, 19, 20)                                                \
    WGMMA_PRODUCT(type, 64, 32, 32, 33, 34, 35, 36)                                                \
    WGMMA_PRODUCT(type, 128, 64, 64, 65, 66, 67, 68)                                               \
    WGMMA_PRODUCT(type, 192, 96, 96, 97, 98, 99, 100)                                              \
    WGMMA_PRODUCT(type, 224, 112, 112, 113, 114, 115, 116)                                         \
    WGMMA_PRODUCT(type, 256, 128, 128, 129, 130, 131, 132)
WGMMA_PRODUCTS(bf16)
WGMMA_PRODUCTS(f16)

/* The first factor from registers: a[2 h + e] of thread t is row 16 (t / 32) + t / 4 % 8 + 8 e, k
 * t % 4 + 4 h. The other lies along k, as TF32 must. */
static __device__ __forceinline__ void wgmma_tf32_from_registers(
    float (&sums)[128], const unsigned (&a)[4], unsigned long long b, int add)
{
    asm volatile("{ .reg .pred add; setp.ne.b32 add, %133, 0; "
                 "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {" WGMMA_D_256 "}, "
                 "{%128, %129, %130, %131}, %132, add, 1, 1; }"
                 : WGMMA_128(sums, 0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
/* clang-format on */

#endif
