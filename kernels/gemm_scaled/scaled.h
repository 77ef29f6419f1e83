/*
 * scaled.h: what the kernels of this family share: their arguments, the types of numbers, and what
 * happens to a sum before it is stored.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_SCALED_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_SCALED_H

#include "tma.h"
#include "wgmma8.h"

/* What the scales belong to: A and B as a whole; each row of A and each column of B; each row of A
 * and 128 of k, with 128 columns of B and 128 of k. */
enum scaling { SCALE_TENSORS, SCALE_LINES, SCALE_BLOCKS };
enum stored_type { STORE_BF16, STORE_F16, STORE_F32, STORE_E4M3 };
enum { SCALE_BLOCK = 128 };

/* kernels/gemm_scaled/host/plan.c fills this: keep both alike. */
struct scaled_arguments {
    int m, n, k;
    int scaling;         /* enum scaling */
    int stored;          /* enum stored_type: of D */
    int fast;            /* sums of FP8 are not promoted */
    int stores_directly; /* number by number */
    int group;           /* rows of tiles that go through the columns together */
    float per_band;      /* 1 over the tiles of a group */
    float alpha;
    const void *a_scale, *b_scale, *d_scale; /* floats; may be NULL, but of blocks: 1 */
    void *out;
    long long out_row; /* in elements, from a row to the next, from a column to the next */
    const void *a_data, *b_data; /* for the kernel that needs no maps */
    long long a_row, a_column, b_row, b_column;
    tensor_map a, b, d;
};

/* Types of numbers -----------------------------------------------------------------------------*/

/* Two numbers in 16 or 32 bits, the first one in the lower half. e4m3 has no infinity: what is too
 * large becomes 448. */
static __device__ __forceinline__ unsigned pack_bf16(float low, float high)
{
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
static __device__ __forceinline__ unsigned pack_f16(float low, float high)
{
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
static __device__ __forceinline__ unsigned short pack_e4m3(float low, float high)
{
    unsigned short both;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
    return both;
}

/* Scales ---------------------------------------------------------------------------------------*/

static __device__ __forceinline__ int smaller(int a, int b)
{
    return a < b ? a : b;
}
static __device__ __forceinline__ float scale_at(const void *scales, long long index)
{
    return scales ? __ldg((const float *)scales + index) : 1.0f;
}
static __device__ __forceinline__ int blocks_of_k(const scaled_arguments &g)
{
    return (g.k + SCALE_BLOCK - 1) / SCALE_BLOCK;
}
/* Where scales of blocks lie: A's by blocks of k, those of one block together; B's by columns. */
static __device__ __forceinline__ const float *block_scale_a(const scaled_arguments &g, int row,
                                                             int block)
{
    return (const float *)g.a_scale + (long long)block * g.m + row;
}
static __device__ __forceinline__ const float *block_scale_b(const scaled_arguments &g, int column,
                                                             int block)
{
    return (const float *)g.b_scale + (long long)(column / SCALE_BLOCK) * blocks_of_k(g) + block;
}
/* What a sum of this row is multiplied by, apart from the scale of its column. */
static __device__ __forceinline__ float scale_of_row(const scaled_arguments &g, int row)
{
    float scale = g.alpha;
    if (g.scaling == SCALE_TENSORS)
        scale *= scale_at(g.a_scale, 0) * scale_at(g.b_scale, 0);
    else if (g.scaling == SCALE_LINES)
        scale *= scale_at(g.a_scale, row);
    return scale * scale_at(g.d_scale, 0);
}

/* What is stored for two neighbours' sums. */
static __device__ __forceinline__ float2 finish_pair(const scaled_arguments &g, float2 sum, int row,
                                                     int column)
{
    float scale = scale_of_row(g, smaller(row, g.m - 1));
    float2 x = {sum.x * scale, sum.y * scale};
    if (g.scaling == SCALE_LINES) {
        x.x *= scale_at(g.b_scale, smaller(column, g.n - 1));
        x.y *= scale_at(g.b_scale, smaller(column + 1, g.n - 1));
    }
    return x;
}

/* Two neighbours in a row, without TMA: odd widths and f32. */
static __device__ __forceinline__ void store_pair(const scaled_arguments &g, float2 x, int row,
                                                  int column)
{
    bool both = column + 1 < g.n;
    long long at = row * g.out_row + column;
    if (row >= g.m || column >= g.n)
        return;
    if (g.stored == STORE_F32) {
        float *out = (float *)g.out + at;
        if (both && (unsigned long long)out % sizeof(float2) == 0) {
            *(float2 *)out = x;
        } else {
            out[0] = x.x;
            if (both)
                out[1] = x.y;
        }
    } else if (g.stored == STORE_E4M3) {
        unsigned char *out = (unsigned char *)g.out + at;
        unsigned short pair = pack_e4m3(x.x, x.y);
        out[0] = (unsigned char)pair;
        if (both)
            out[1] = (unsigned char)(pair >> 8);
    } else {
        unsigned short *out = (unsigned short *)g.out + at;
        unsigned pair = g.stored == STORE_BF16 ? pack_bf16(x.x, x.y) : pack_f16(x.x, x.y);
        out[0] = (unsigned short)pair;
        if (both)
            out[1] = (unsigned short)(pair >> 16);
    }
}

#endif
