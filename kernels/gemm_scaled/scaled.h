/*
 * scaled.h: what the kernels of this family share: their arguments, scales, and what happens to a
 * sum before it is stored. kernels/include/products.h has what all products of lk_gemm share.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_SCALED_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_SCALED_H

#include "products.h"
#include "wgmma8.h"

/* What the scales belong to: A and B as a whole; each row of A and each column of B; each row of A
 * and 128 of k, with 128 columns of B and 128 of k. */
enum scaling { SCALE_TENSORS, SCALE_LINES, SCALE_BLOCKS };
enum stored_type { STORE_BF16, STORE_F16, STORE_F32, STORE_E4M3 };
enum { SCALE_BLOCK = 128 };
#define LARGEST_E4M3 448.0f

/* kernels/gemm_scaled/host/plan.c fills this: keep both alike. */
struct scaled_arguments {
    int m, n, k, batch;
    int scaling;                /* enum scaling */
    int stored;                 /* enum stored_type: of D */
    int added;                  /* enum stored_type: of C and bias */
    int fast;                   /* sums of FP8 are not promoted */
    int stores_directly;        /* number by number */
    int quantises;              /* D's scales are computed, one for 128 columns of a row */
    int has_epilogue;           /* C, a bias or an activation */
    int activation;             /* enum gemm_activation */
    int bias_down;              /* a number for each row, not for each column */
    int a_stays, b_stays;       /* the same matrix for the whole batch: its stride is 0 */
    int group;                  /* rows of tiles that go through the columns together */
    int stages, parts;          /* of skinny kernels; so many blocks share k */
    float per_matrix, per_band; /* 1 over the tiles of a matrix, 1 over those of a group */
    float alpha, beta;
    const void *a_scale, *b_scale, *d_scale; /* floats; may be NULL, but of blocks: 1 */
    void *scale_out;                         /* where computed scales of D go: [n / 128][m] */
    const void *c, *bias;                    /* may be NULL */
    void *out;
    /* In elements, from a row to the next, from a column to the next, from a matrix to the next. */
    long long a_scale_stride, b_scale_stride;
    long long out_row, out_stride, c_row, c_stride;
    const void *a_data, *b_data; /* for the kernels that need no maps */
    long long a_row, a_column, a_stride, b_row, b_column, b_stride;
    tensor_map a, b, d; /* three dimensions: along a line, lines, matrices of the batch */
};

/* Numbers ---------------------------------------------------------------------------------------*/

/* Two of them, the first one in the lower half. e4m3 has no infinity: what is too large becomes
 * 448. */
static __device__ __forceinline__ unsigned short pack_e4m3(float low, float high)
{
    unsigned short both;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
    return both;
}
/* Of C or the bias. */
static __device__ __forceinline__ float added_at(const scaled_arguments &g, const void *from,
                                                 long long index)
{
    if (g.added == STORE_F32)
        return ((const float *)from)[index];
    unsigned short x = ((const unsigned short *)from)[index];
    return g.added == STORE_BF16 ? wide_bf16(x) : wide_f16(x);
}

/* Scales ---------------------------------------------------------------------------------------*/

static __device__ __forceinline__ float scale_at(const void *scales, long long index)
{
    return scales ? __ldg((const float *)scales + index) : 1.0f;
}
static __device__ __forceinline__ int blocks_of(int numbers)
{
    return (numbers + SCALE_BLOCK - 1) / SCALE_BLOCK;
}
/* Where scales of blocks lie: A's by blocks of k, those of one block together; B's by columns. */
static __device__ __forceinline__ const float *block_scale_a(const scaled_arguments &g, int matrix,
                                                             int row, int block)
{
    return (const float *)g.a_scale + matrix * g.a_scale_stride + (long long)block * g.m + row;
}
static __device__ __forceinline__ const float *block_scale_b(const scaled_arguments &g, int matrix,
                                                             int column, int block)
{
    return (const float *)g.b_scale + matrix * g.b_scale_stride +
           (long long)(column / SCALE_BLOCK) * blocks_of(g.k) + block;
}
/* What a sum of this row is multiplied by, apart from the scale of its column; D's own scale comes
 * last if anything is added before. */
static __device__ __forceinline__ float scale_of_row(const scaled_arguments &g, int matrix, int row)
{
    float scale = g.alpha;
    if (g.scaling == SCALE_TENSORS)
        scale *= scale_at(g.a_scale, matrix * g.a_scale_stride) *
                 scale_at(g.b_scale, matrix * g.b_scale_stride);
    else if (g.scaling == SCALE_LINES)
        scale *= scale_at(g.a_scale, matrix * g.a_scale_stride + row);
    return g.has_epilogue ? scale : scale * scale_at(g.d_scale, 0);
}
static __device__ __forceinline__ float scale_of_column(const scaled_arguments &g, int matrix,
                                                        int column)
{
    return scale_at(g.b_scale, matrix * g.b_scale_stride + smaller(column, g.n - 1));
}

/* The scale that brings numbers up to `largest` into e4m3, as what gives them back. So little that
 * a scale could not be told from zero counts as zero. */
struct quantiser {
    float factor, scale;
};
static __device__ __forceinline__ quantiser quantiser_of(float largest)
{
    if (!(largest > 0x1p-110f))
        return quantiser{1, 1};
    return quantiser{__fdiv_rn(LARGEST_E4M3, largest), __fdiv_rn(largest, LARGEST_E4M3)};
}

/* Results --------------------------------------------------------------------------------------*/

/* What becomes of two neighbours on top of the scales of A and B. */
static __device__ __forceinline__ float2 fuse(const scaled_arguments &g, float2 x, int row,
                                              int column, int matrix)
{
    bool first = row < g.m && column < g.n, second = row < g.m && column + 1 < g.n;
    if (g.c) {
        long long at = matrix * g.c_stride + row * g.c_row + column;
        x.x += first ? g.beta * added_at(g, g.c, at) : 0;
        x.y += second ? g.beta * added_at(g, g.c, at + 1) : 0;
    }
    if (g.bias) {
        x.x += first ? added_at(g, g.bias, g.bias_down ? row : column) : 0;
        x.y += second ? added_at(g, g.bias, g.bias_down ? row : column + 1) : 0;
    }
    float scale = g.activation == GEMM_GATE ? 1 : scale_at(g.d_scale, 0); /* a gate's comes later */
    return float2{activate(x.x, g.activation) * scale, activate(x.y, g.activation) * scale};
}

/* What is stored for two neighbours' sums. PLAIN: their scales are all that there is. */
template <bool PLAIN = false>
static __device__ __forceinline__ float2 finish_pair(const scaled_arguments &g, float2 sum, int row,
                                                     int column, int matrix)
{
    float scale = scale_of_row(g, matrix, smaller(row, g.m - 1));
    float2 x = {sum.x * scale, sum.y * scale};
    if (g.scaling == SCALE_LINES) {
        x.x *= scale_of_column(g, matrix, column);
        x.y *= scale_of_column(g, matrix, column + 1);
    }
    return !PLAIN && g.has_epilogue ? fuse(g, x, row, column, matrix) : x;
}

static __device__ __forceinline__ void store_number(const scaled_arguments &g, float x,
                                                    long long at)
{
    if (g.stored == STORE_F32)
        ((float *)g.out)[at] = x;
    else if (g.stored == STORE_E4M3)
        ((unsigned char *)g.out)[at] = (unsigned char)pack_e4m3(x, 0);
    else
        ((unsigned short *)g.out)[at] =
            (unsigned short)(g.stored == STORE_BF16 ? pack_bf16(x, 0) : pack_f16(x, 0));
}

/* Two neighbours in a row, without TMA: odd widths and f32; and gates, which make one number of the
 * two. */
static __device__ __forceinline__ void store_pair(const scaled_arguments &g, float2 x, int row,
                                                  int column, int matrix)
{
    bool both = column + 1 < g.n;
    long long at = matrix * g.out_stride + row * g.out_row;
    if (row >= g.m || column >= g.n)
        return;
    if (g.activation == GEMM_GATE) {
        store_number(g, silu(x.x) * x.y * scale_at(g.d_scale, 0), at + column / 2);
        return;
    }
    at += column;
    if (g.stored == STORE_F32 && both &&
        (unsigned long long)((float *)g.out + at) % sizeof(float2) == 0) {
        *(float2 *)((float *)g.out + at) = x;
        return;
    }
    store_number(g, x.x, at);
    if (both)
        store_number(g, x.y, at + 1);
}

#endif
