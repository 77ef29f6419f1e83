/*
 * wgmma_types.h: products of a warpgroup by the type of their factors: a template of bf16 or f16
 * says multiply(type(), ..). The first factor is in shared memory, or in registers; then the second
 * lies across k. Of multiply_across both do.
 */
#ifndef LOCKSTEP_KERNELS_WGMMA_TYPES_H
#define LOCKSTEP_KERNELS_WGMMA_TYPES_H

#include "attention_numbers.h"
#include "wgmma_registers.h"
#define LINE 128 /* bytes of a line of the swizzle: 64 numbers */

template <int n>
static __device__ __forceinline__ void multiply(bf16, float (&sums)[n], unsigned long long a,
                                                unsigned long long b, int add)
{
    wgmma_bf16<0, 0>(sums, a, b, add);
}
template <int n>
static __device__ __forceinline__ void multiply(f16, float (&sums)[n], unsigned long long a,
                                                unsigned long long b, int add)
{
    wgmma_f16<0, 0>(sums, a, b, add);
}
template <int n>
static __device__ __forceinline__ void multiply(bf16, float (&sums)[n], const unsigned (&a)[4],
                                                unsigned long long b)
{
    wgmma_bf16_from_registers<1>(sums, a, b, 1);
}
template <int n>
static __device__ __forceinline__ void multiply(f16, float (&sums)[n], const unsigned (&a)[4],
                                                unsigned long long b)
{
    wgmma_f16_from_registers<1>(sums, a, b, 1);
}
/* Both in shared memory, and both across k. */
template <int n>
static __device__ __forceinline__ void multiply_across(bf16, float (&sums)[n], unsigned long long a,
                                                       unsigned long long b, int add)
{
    wgmma_bf16<1, 1>(sums, a, b, add);
}
template <int n>
static __device__ __forceinline__ void multiply_across(f16, float (&sums)[n], unsigned long long a,
                                                       unsigned long long b, int add)
{
    wgmma_f16<1, 1>(sums, a, b, add);
}

#endif
