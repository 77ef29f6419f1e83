/*
 * tile_results.h: what becomes of the sums of a tile (tiles.h): scales, epilogues, scales of D, and
 * D's numbers in shared memory as the TMA unit wants them.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_TILE_RESULTS_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_TILE_RESULTS_H

#include "results.h"
#include "tile_order.h"

template <class sum, int BN, bool BY_BLOCKS, bool PLAIN> struct tile_results {
    typedef tile_place place;

    /* The scales of A and B for the sums of 64 columns. Thread t has rows 16 (t / 32) + t / 4 % 8
     * and eight below, and columns 8 i + t % 4 * 2 and the next; `columns` are the scales from its
     * first on. */
    static __device__ __forceinline__ void scale_all(const scaled_arguments &g, sum *sums,
                                                     const float (&scale)[2], const float *columns)
    {
#pragma unroll
        for (int i = 0; i < 32; i++)
            put(sums[i], (float)sums[i] * scale[i % 4 / 2]);
        if (!BY_BLOCKS && g.scaling == SCALE_LINES) {
#pragma unroll
            for (int i = 0; i < 32; i += 4) {
                float2 factor = *(const float2 *)(columns + i * 2);
                put(sums[i], get(sums[i]) * factor.x);
                put(sums[i + 1], get(sums[i + 1]) * factor.y);
                put(sums[i + 2], get(sums[i + 2]) * factor.x);
                put(sums[i + 3], get(sums[i + 3]) * factor.y);
            }
        }
    }

    static __device__ __forceinline__ void finish(const scaled_arguments &g, sum *sums,
                                                  const float (&scale)[2], const float *columns,
                                                  place at)
    {
        scale_all(g, sums, scale, columns);
        if (!PLAIN && g.has_epilogue)
            fuse_all(g, sums, at.row, at.column, at.matrix);
    }

    /* Numbers of 128 columns, with a scale for each row, which four neighbours share. */
    static __device__ __forceinline__ void quantise(const scaled_arguments &g, sum *results,
                                                    place at)
    {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float largest = 0;
            int row = at.row + 8 * h;
#pragma unroll
            for (int i = 2 * h; i < 64; i += 4) { /* outside D there is anything */
                int column = at.column + i / 4 * 8;
                largest = fmaxf(largest, column < g.n ? fabsf(get(results[i])) : 0);
                largest = fmaxf(largest, column + 1 < g.n ? fabsf(get(results[i + 1])) : 0);
            }
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, 1));
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, 2));
            quantiser q = quantiser_of(largest);
#pragma unroll
            for (int i = 2 * h; i < 64; i += 4) {
                put(results[i], get(results[i]) * q.factor);
                put(results[i + 1], get(results[i + 1]) * q.factor);
            }
            if (threadIdx.x % 4 == 0 && row < g.m && at.column < g.n)
                ((float *)g
                     .scale_out)[((long long)at.matrix * blocks_of(g.n) + at.column / SCALE_BLOCK) *
                                     g.m +
                                 row] = q.scale;
        }
    }

    static __device__ __forceinline__ void store_directly(const scaled_arguments &g,
                                                          const sum *results, place at)
    {
#pragma unroll
        for (int i = 0; i < 32; i += 2)
            store_pair(g, float2{get(results[i]), get(results[i + 1])}, at.row + i % 4 / 2 * 8,
                       at.column + i / 4 * 8, at.matrix);
    }

    /* 64 columns of 16 bits: lines of 128 bytes. */
    template <bool IS_BF16>
    static __device__ __forceinline__ void put_16(unsigned to, const sum *results)
    {
        unsigned lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned chunk = i * 2 + lane / 16, p[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float low = get(results[8 * i + 2 * j]), high = get(results[8 * i + 2 * j + 1]);
                p[j] = IS_BF16 ? pack_bf16(low, high) : pack_f16(low, high);
            }
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                             to + row * 128 + ((chunk ^ row % 8) << 4)),
                         "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3])
                         : "memory");
        }
    }

    /* 64 columns of 8 bits: lines of 64 bytes, their four chunks permuted by half the line's
     * number. A thread has two numbers of each eight columns; neighbours exchange, so that each has
     * four of the first eight or four of the second. */
    static __device__ __forceinline__ void put_8(unsigned to, const sum *results)
    {
        unsigned lane = threadIdx.x % 32, odd = lane % 2;
        unsigned row = threadIdx.x % 128 / 32 * 16 + lane / 4;
#pragma unroll
        for (int i = 0; i < 32; i += 8)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                unsigned first = pack_e4m3(get(results[i + 2 * h]), get(results[i + 2 * h + 1]));
                unsigned second =
                    pack_e4m3(get(results[i + 4 + 2 * h]), get(results[i + 4 + 2 * h + 1]));
                unsigned theirs = __shfl_xor_sync(0xffffffff, odd ? first : second, 1);
                unsigned four = odd ? theirs | second << 16 : first | theirs << 16;
                unsigned line = row + 8 * h, chunk = (i / 8) ^ (line / 2 % 4);
                unsigned in_chunk = odd * 8 + lane % 4 / 2 * 4;
                asm volatile(
                    "st.shared.b32 [%0], %1;" ::"r"(to + line * 64 + chunk * 16 + in_chunk),
                    "r"(four)
                    : "memory");
            }
    }
};

#endif
