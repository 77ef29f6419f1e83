/*
 * tile_scales.h: scales of blocks of 128 of k (tiles.h): their way into shared memory, and into the
 * sums when those are promoted.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_TILE_SCALES_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_TILE_SCALES_H

#include "tile_results.h"

/* Of a tile of ROWS x BN. In shared memory lie the scales of its rows, then those of B. */
template <int ROWS, int BN> struct tile_scales {
    /* Columns that have a scale of B in common. */
    static const int COMMON = BN % SCALE_BLOCK == 0 ? SCALE_BLOCK : 64;
    static const int GROUPS = BN / COMMON;

    /* Where a lane's next scales are. Four rows at once if each block's begin at a multiple of 16
     * bytes, else number by number; outside the matrices the last ones are read. Addresses move on
     * by additions: the warp that copies shares its scheduler with warps that promote. */
    struct source {
        const float *rows[ROWS / 32], *group;
        bool fours;
    };
    static __device__ __forceinline__ source source_of(const scaled_arguments &g, tile_place tile)
    {
        source from;
        int lane = threadIdx.x % 32;
        const float *a = block_scale_a(g, tile.matrix, 0, 0);
        from.fours = g.m % 4 == 0 && (unsigned long long)a % 16 == 0;
#pragma unroll
        for (int i = 0; i < ROWS / 32; i++)
            from.rows[i] = a + (from.fours ? smaller(tile.row + lane * 4, g.m - 4)
                                           : smaller(tile.row + lane + i * 32, g.m - 1));
        int column = tile.column + smaller(lane, GROUPS - 1) * COMMON;
        from.group = block_scale_b(g, tile.matrix, smaller(column, g.n - 1), 0);
        return from;
    }
    static __device__ __forceinline__ void copy_next(const scaled_arguments &g, source &from,
                                                     float *to)
    {
        int lane = threadIdx.x % 32;
        if (from.fours) {
            copy_async_16(to + lane * 4, from.rows[0], 16);
            from.rows[0] += g.m;
        } else {
#pragma unroll
            for (int i = 0; i < ROWS / 32; i++) {
                copy_async_4_to(shared_address(to + lane + i * 32), from.rows[i], 4);
                from.rows[i] += g.m;
            }
        }
        if (lane < GROUPS)
            copy_async_4_to(shared_address(to + ROWS + lane), from.group, 4);
        from.group++;
    }

    /* For a thread's two rows and for all columns. */
    struct factors {
        float row[2], column[GROUPS];
    };
    static __device__ __forceinline__ factors factors_at(const float *scales, int group)
    {
        factors f;
        int row = group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
        for (int i = 0; i < 2; i++)
            f.row[i] = scales[row + 8 * i];
#pragma unroll
        for (int i = 0; i < GROUPS; i++)
            f.column[i] = scales[ROWS + i];
        return f;
    }

    /* Adds the sums of some columns, the part number `number` of so many, to those of the tile. */
    template <bool BY_BLOCKS, int count>
    static __device__ __forceinline__ void promote(float (&sums)[BN / 2], const float (&part)[count],
                                                   int number, const factors &f)
    {
#pragma unroll
        for (int i = 0; i < count; i++) {
            int column = number * count * 2 + i / 4 * 8;
            float &to = sums[number * count + i];
            if (BY_BLOCKS)
                to += part[i] * (f.row[i % 4 / 2] * f.column[column / COMMON]);
            else
                to += part[i];
        }
    }
};

#endif
