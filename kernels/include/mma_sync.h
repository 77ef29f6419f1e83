/*
 * mma_sync.h: a warp's products of 16 x 8 x 16 numbers of 16 bits with sums in f32. The
 * loads of their factors from shared memory are in matrix_loads.h. sm_80.
 *
 * Of a first factor, thread t has row t / 4 in a[0] and a[2], row t / 4 + 8 in a[1] and a[3];
 * columns t % 4 * 2 and the next in a[0] and a[1], 8 further on in a[2] and a[3]. Sums are laid out
 * in the same way, in two columns of numbers for each.
 */
#ifndef LOCKSTEP_KERNELS_MMA_SYNC_H
#define LOCKSTEP_KERNELS_MMA_SYNC_H

#include "attention_numbers.h"
#include "matrix_loads.h"

static __device__ __forceinline__ void multiply(bf16, float *sums, const unsigned (&a)[4],
                                                unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
static __device__ __forceinline__ void multiply(f16, float *sums, const unsigned (&a)[4],
                                                unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif
