/*
 * store.h: how the Hopper steps that store C from registers do it: each thread its pairs of
 * neighbours, as bf16; split_k.cu stores its parts in f32.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_STORE_H
#define LOCKSTEP_KERNELS_GEMM_STORE_H

static __device__ __forceinline__ unsigned pack_bf16(float low, float high)
{
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

static __device__ __forceinline__ void store_two(unsigned short *at, float low, float high)
{
    *(unsigned *)at = pack_bf16(low, high);
}
static __device__ __forceinline__ void store_two(float *at, float low, float high)
{
    *(float2 *)at = make_float2(low, high);
}

/* The sums of a warpgroup's 64 rows, the first of which is `row`; n is even. wgmma.h says which sums
 * a thread has. */
template <class type, int count>
static __device__ __forceinline__ void store_sums(type *c, const float (&sums)[count], int row,
                                                  int column, int m, int n)
{
    row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    column += threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < count; i += 2) {
        int y = row + i % 4 / 2 * 8, x = column + i / 4 * 8;
        if (y < m && x < n)
            store_two(c + (long long)y * n + x, sums[i], sums[i + 1]);
    }
}

#endif
