/*
 * tile_epilogue.h: what becomes of the sums of a tile before they are stored (tiles.h): a factor, a
 * bias, C, an activation; and stores that are not left to the TMA unit.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_FUSED_TILE_EPILOGUE_H
#define LOCKSTEP_KERNELS_GEMM_FUSED_TILE_EPILOGUE_H

#include "generic.h"
#include "tile_order.h"

/* One instruction; NaN stays. */
static __device__ __forceinline__ float relu_at_once(float x)
{
    asm("max.NaN.f32 %0, %0, 0f00000000;" : "+f"(x));
    return x;
}

template <class numbers, int BN> struct tile_epilogue {
    typedef typename numbers::stored stored;
    typedef tile_place place;
    static const int BOXES = (BN + 63) / 64;

    /* Thread t has rows 16 (t / 32) + t / 4 % 8 and eight below, and columns 8 i + t % 4 * 2 and
     * the next. Below C, its last row is read. */
    static __device__ __forceinline__ int row_of(place tile, int group)
    {
        return tile.row + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    }
    static __device__ __forceinline__ int column_of(place tile)
    {
        return tile.column + threadIdx.x % 4 * 2;
    }

    /* The bias, read before the products: of each 64 columns a lane has two neighbours, and lanes
     * exchange them when they are needed. Or of the thread's two rows. */
    struct biases {
        unsigned pair[BOXES];
        float row[2];
    };
    static __device__ __forceinline__ biases load_biases(const gemm_arguments &g, place tile,
                                                         int group)
    {
        biases b = {};
        const stored *bias = (const stored *)g.bias;
        if (bias && g.bias_down) {
            int row = row_of(tile, group);
            b.row[0] = numbers::wide(bias[smaller(row, g.m - 1)]);
            b.row[1] = numbers::wide(bias[smaller(row + 8, g.m - 1)]);
        } else if (bias) {
#pragma unroll
            for (int i = 0; i < BOXES; i++) {
                int column = tile.column + i * 64 + threadIdx.x % 32 * 2;
                b.pair[i] = bias[smaller(column, g.n - 1)] |
                            (unsigned)bias[smaller(column + 1, g.n - 1)] << 16;
            }
        }
        return b;
    }
    static __device__ __forceinline__ void scale_and_add(const gemm_arguments &g,
                                                         float (&sums)[BN / 2], const biases &b)
    {
        if (!g.bias || g.bias_down) {
#pragma unroll
            for (int i = 0; i < BN / 2; i++)
                sums[i] = fmaf(sums[i], g.alpha, b.row[i % 4 / 2]);
            return;
        }
#pragma unroll
        for (int i = 0; i < BN / 2; i += 4) {
            unsigned pair = __shfl_sync(0xffffffff, b.pair[i / 32], i % 32 + threadIdx.x % 4);
            float add[2] = {numbers::wide((stored)pair), numbers::wide((stored)(pair >> 16))};
#pragma unroll
            for (int j = 0; j < 4; j++)
                sums[i + j] = fmaf(sums[i + j], g.alpha, add[j % 2]);
        }
    }

    /* C's numbers for 64 columns, in pieces of 16 bytes: of either 32 columns eight of both rows.
     * Four neighbours exchange theirs. Outside C the nearest ones are read. */
    struct pieces {
        uint4 at[4];
    };
    static __device__ __forceinline__ pieces load_c(const gemm_arguments &g, place tile, int group,
                                                    int box)
    {
        pieces c;
        int row = row_of(tile, group), column = tile.column + box * 64 + threadIdx.x % 4 * 8;
        const stored *from = (const stored *)g.c + tile.matrix * g.c_stride;
#pragma unroll
        for (int i = 0; i < 4; i++)
            c.at[i] = *(const uint4 *)(from + smaller(row + i % 2 * 8, g.m - 1) * g.c_row +
                                       smaller(column + i / 2 * 32, g.n - 8));
        return c;
    }
    static __device__ __forceinline__ void add_c(float beta, float (&sums)[BN / 2], int box,
                                                 const pieces &c)
    {
#pragma unroll
        for (int i = 0; i < 4 && box * 64 + i / 2 * 32 < BN; i++) {
            uint4 four = exchange_in_fours(c.at[i]);
            unsigned words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int j = 0; j < 8; j++) {
                float &to = sums[box * 32 + i / 2 * 16 + j / 2 * 4 + i % 2 * 2 + j % 2];
                to = fmaf(beta, numbers::wide((stored)(words[j / 2] >> j % 2 * 16)), to);
            }
        }
    }

    /* The same, number by number, where C lies as it likes. */
    static __device__ __forceinline__ void
    add_c_slowly(const gemm_arguments &g, float (&sums)[BN / 2], place tile, int group)
    {
        int row = row_of(tile, group), column = column_of(tile), last = g.n - 1 - column;
        const stored *c = (const stored *)g.c + tile.matrix * g.c_stride + column;
        const stored *rows[2] = {c + smaller(row, g.m - 1) * g.c_row,
                                 c + smaller(row + 8, g.m - 1) * g.c_row};
#pragma unroll
        for (int i = 0; i < BN / 2; i++)
            if (i / 4 * 8 + i % 2 <= last)
                sums[i] += g.beta * numbers::wide(rows[i % 4 / 2][i / 4 * 8 + i % 2]);
    }

    static __device__ __forceinline__ void activate_all(int activation, float (&sums)[BN / 2])
    {
        if (activation == GEMM_RELU) {
#pragma unroll
            for (int i = 0; i < BN / 2; i++)
                sums[i] = relu_at_once(sums[i]);
        } else if (activation == GEMM_GELU) {
#pragma unroll
            for (int i = 0; i < BN / 2; i += 2)
                gelu_pair(sums[i], sums[i + 1]);
        } else if (activation == GEMM_SILU) {
#pragma unroll
            for (int i = 0; i < BN / 2; i += 2)
                silu_pair(sums[i], sums[i + 1]);
        }
    }

    /* What is stored for the sums. All of them at once: between the barriers of store, loads and
     * long instructions would be waited for. c: what was read before the products, 64 columns. */
    static __device__ __forceinline__ void finish_all(const gemm_arguments &g,
                                                      float (&sums)[BN / 2], place tile, int group,
                                                      const biases &b, pieces c, int activation)
    {
        scale_and_add(g, sums, b);
        if (g.c_pieces) {
#pragma unroll
            for (int box = 0; box < BOXES; box++) {
                pieces next = c;
                if (box + 1 < BOXES)
                    next = load_c(g, tile, group, box + 1);
                add_c(g.beta, sums, box, c);
                c = next;
            }
        } else if (g.c) {
            add_c_slowly(g, sums, tile, group);
        }
        activate_all(activation, sums);
    }

    /* Gates make one number of two neighbours, which a thread has. Two of those are stored at once:
     * of two pairs of columns, even threads take the first and odd threads the second. */
    static __device__ __forceinline__ void
    store_gates(const gemm_arguments &g, const float (&sums)[BN / 2], place tile, int group)
    {
        bool odd = threadIdx.x % 2;
        int row = row_of(tile, group);
        int column = tile.column / 2 + threadIdx.x % 4 + (odd ? 3 : 0);
        stored *out = (stored *)g.out + tile.matrix * g.out_stride + column;
#pragma unroll
        for (int i = 0; i < BN / 2; i += 8)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float first = silu(sums[i + 2 * h]) * sums[i + 2 * h + 1];
                float second = silu(sums[i + 4 + 2 * h]) * sums[i + 4 + 2 * h + 1];
                float theirs = __shfl_xor_sync(0xffffffff, odd ? first : second, 1);
                unsigned two = odd ? numbers::pack(theirs, second) : numbers::pack(first, theirs);
                if (row + 8 * h < g.m && column + i < g.n / 2)
                    *(unsigned *)(out + (row + 8 * h) * g.out_row + i) = two;
            }
    }

    static __device__ __forceinline__ void
    store_directly(const gemm_arguments &g, const float (&sums)[BN / 2], place tile, int group)
    {
        if (g.activation == GEMM_GATE && g.out_pairs) {
            store_gates(g, sums, tile, group);
            return;
        }
#pragma unroll
        for (int i = 0; i < BN / 2; i += 2)
            store_pair<numbers>(g, float2{sums[i], sums[i + 1]},
                                row_of(tile, group) + i % 4 / 2 * 8, column_of(tile) + i / 4 * 8,
                                tile.matrix);
    }
};

#endif
