/*
 * generic.h: what the kernels behind lk_gemm share: their arguments, and what happens to a sum
 * before it is stored. The ladder of kernels/gemm explains the technique in one type and one
 * layout; here it serves 16-bit types in every layout, with batches and epilogues.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_FUSED_GENERIC_H
#define LOCKSTEP_KERNELS_GEMM_FUSED_GENERIC_H

#include "products.h"
#include "wgmma.h"

/* kernels/gemm_fused/host/plan.c fills this: keep both alike. */
struct gemm_arguments {
    int m, n, k, batch;
    float alpha, beta;
    int activation;             /* enum gemm_activation */
    int bias_down;              /* a number for each row, not for each column */
    int a_stays, b_stays;       /* the same matrix for the whole batch: its stride is 0 */
    int stores_directly;        /* not by TMA */
    int c_pieces, out_pairs;    /* C comes in pieces of 16 bytes; two numbers of D may be stored */
    int group;                  /* rows of tiles that go through the columns together */
    float per_matrix, per_band; /* 1 over the tiles of a matrix, 1 over those of a group */
    int stages, parts;          /* of skinny kernels; so many blocks share k */
    const void *c, *bias;       /* may be NULL */
    void *out;
    /* In elements, from a row to the next, from a column to the next, from a matrix to the next. */
    long long out_row, out_stride, c_row, c_stride;
    const void *a_data, *b_data; /* for the kernel that needs no maps */
    long long a_row, a_column, a_stride, b_row, b_column, b_stride;
    tensor_map a, b, d;        /* three dimensions: along a line, lines, matrices of the batch */
    tensor_map b_rest, d_rest; /* the same with boxes for the last columns of a tile, under 64 */
};

/* Types of numbers -----------------------------------------------------------------------------*/

struct bf16_numbers {
    typedef unsigned short stored;
    template <int DOWN_A, int DOWN_B, int count>
    static __device__ __forceinline__ void multiply(float (&sums)[count], unsigned long long a,
                                                    unsigned long long b, int add)
    {
        wgmma_bf16<DOWN_A, DOWN_B>(sums, a, b, add);
    }
    static __device__ __forceinline__ unsigned pack(float low, float high)
    {
        return pack_bf16(low, high);
    }
    static __device__ __forceinline__ unsigned pack_relu(float low, float high)
    {
        return pack_relu_bf16(low, high);
    }
    static __device__ __forceinline__ float wide(unsigned short x)
    {
        return wide_bf16(x);
    }
    static __device__ __forceinline__ unsigned short narrow(float x)
    {
        return (unsigned short)pack(x, 0);
    }
};

struct f16_numbers {
    typedef unsigned short stored;
    template <int DOWN_A, int DOWN_B, int count>
    static __device__ __forceinline__ void multiply(float (&sums)[count], unsigned long long a,
                                                    unsigned long long b, int add)
    {
        wgmma_f16<DOWN_A, DOWN_B>(sums, a, b, add);
    }
    static __device__ __forceinline__ unsigned pack(float low, float high)
    {
        return pack_f16(low, high);
    }
    static __device__ __forceinline__ unsigned pack_relu(float low, float high)
    {
        return pack_relu_f16(low, high);
    }
    static __device__ __forceinline__ float wide(unsigned short x)
    {
        return wide_f16(x);
    }
    static __device__ __forceinline__ unsigned short narrow(float x)
    {
        return (unsigned short)pack(x, 0);
    }
};

struct f32_numbers {
    typedef float stored;
    static __device__ __forceinline__ float wide(float x)
    {
        return x;
    }
    static __device__ __forceinline__ float narrow(float x)
    {
        return x;
    }
};

/* Epilogues ------------------------------------------------------------------------------------*/

/* Two neighbours in a row: what is stored for these sums. */
template <class numbers>
static __device__ __forceinline__ float2 finish(const gemm_arguments &g, float2 sum, int row,
                                                int column, int matrix)
{
    typedef typename numbers::stored stored;
    float2 x = {sum.x * g.alpha, sum.y * g.alpha};
    bool first = row < g.m && column < g.n, second = row < g.m && column + 1 < g.n;
    if (g.c) {
        const stored *c = (const stored *)g.c + matrix * g.c_stride + row * g.c_row + column;
        x.x += first ? g.beta * numbers::wide(c[0]) : 0;
        x.y += second ? g.beta * numbers::wide(c[1]) : 0;
    }
    if (g.bias) {
        const stored *bias = (const stored *)g.bias;
        x.x += first ? numbers::wide(bias[g.bias_down ? row : column]) : 0;
        x.y += second ? numbers::wide(bias[g.bias_down ? row : column + 1]) : 0;
    }
    x.x = activate(x.x, g.activation);
    x.y = activate(x.y, g.activation);
    return x;
}
/* Two neighbours that are finished, without TMA: odd widths, and gates, which make one number of
 * the two. */
template <class numbers>
static __device__ __forceinline__ void store_pair(const gemm_arguments &g, float2 x, int row,
                                                  int column, int matrix)
{
    if (row >= g.m || column >= g.n)
        return;
    typename numbers::stored *out =
        (typename numbers::stored *)g.out + matrix * g.out_stride + row * g.out_row;
    if (g.activation == GEMM_GATE) {
        out[column / 2] = numbers::narrow(silu(x.x) * x.y);
        return;
    }
    out[column] = numbers::narrow(x.x);
    if (column + 1 < g.n)
        out[column + 1] = numbers::narrow(x.y);
}

#endif
