/*
 * skinny.h: 8-bit products with few rows, where the time is B's way from memory: the shape of
 * kernels/gemm_fused/skinny.h. 64 columns of D stand where a warpgroup has its rows, the rows of D,
 * as few as eight, where it has columns; so B is wgmma's first factor here and A its second. The
 * blocks of a cluster share one tile, each with a part of k; their sums meet in distributed shared
 * memory, always in the same order.
 *
 * Blocks have a producer warpgroup and blockDim.x / 128 - 1 consumers with 64 columns each.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_SKINNY_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_SKINNY_H

#include "quantise.h"
#include "skinny_part.h"

enum {
    BK = 128, /* a line of the swizzle, and the k of a block of scales */
    BOX = 64 * 128,
    STEP_K = 32, /* of one product */
    MOST_CONSUMERS = 4,
    MOST_THREADS = 128 * (MOST_CONSUMERS + 1)
};

/* PLAIN: D is the product with its scales and no more, four numbers at once. */
template <class numbers, int ROWS, bool PLAIN> struct skinny {
    typedef typename numbers::sum sum;
    static const int A_BYTES = (ROWS * BK + 1023) / 1024 * 1024; /* of a stage */
    static const bool EXACT = (sum)1 / 2 == 0;                   /* integers */

    /* Where things lie in shared memory; kernels/gemm_scaled/host/plan.c asks for as much. */
    struct places {
        unsigned char *b, *a;                   /* of stage 0 */
        sum *sums;                              /* in place of the stages, at the end */
        int pitch;                              /* of sums */
        float (*scales)[ROWS + MOST_CONSUMERS]; /* of blocks: A's, then B's, for each stage */
        barrier *full, *empty;
    };
    static __device__ __forceinline__ places places_in(unsigned char *memory, int consumers,
                                                       int stages)
    {
        int b_bytes = stages * consumers * BOX, pitch = 64 * consumers + 4;
        int tiles = b_bytes + stages * A_BYTES, sums = ROWS * pitch * 4;
        barrier *barriers = (barrier *)(memory + (tiles > sums ? tiles : sums));
        return places{memory,
                      memory + b_bytes,
                      (sum *)memory,
                      pitch,
                      (float(*)[ROWS + MOST_CONSUMERS])(barriers + 2 * stages),
                      barriers,
                      barriers + stages};
    }

    typedef skinny_part part;

    /* A position in the ring of stages, and the parity of its turn. */
    struct turn {
        int stage;
        unsigned parity;
        __device__ __forceinline__ void next(int stages)
        {
            if (++stage == stages) {
                stage = 0;
                parity ^= 1;
            }
        }
    };

    /* Loads -------------------------------------------------------------------------------------*/

    static __device__ __forceinline__ void produce(const scaled_arguments &g, const places &s,
                                                   int consumers, const part &p)
    {
        int a_matrix = g.a_stays ? 0 : p.matrix, b_matrix = g.b_stays ? 0 : p.matrix;
        turn at = {0, 1};
        for (int i = p.from; i < p.to; i++, at.next(g.stages)) {
            barrier *full = &s.full[at.stage];
            unsigned char *b = s.b + at.stage * consumers * BOX;
            barrier_wait(&s.empty[at.stage], at.parity);
            barrier_arrive_expecting(full, consumers * BOX + ROWS * BK);
            for (int j = 0; j < consumers; j++)
                load_box(b + j * BOX, &g.b, i * BK, p.column + j * 64, b_matrix, full);
            load_box(s.a + at.stage * A_BYTES, &g.a, i * BK, p.row, a_matrix, full);
        }
    }

    /* By a warp of its own: number by number, so that they need no alignment. */
    static __device__ __forceinline__ void
    produce_scales(const scaled_arguments &g, const places &s, int consumers, const part &p)
    {
        int lane = threadIdx.x % 32;
        turn at = {0, 1};
        for (int i = p.from; i < p.to; i++, at.next(g.stages)) {
            float *to = s.scales[at.stage];
            barrier_wait(&s.empty[at.stage], at.parity);
            for (int j = lane; j < ROWS; j += 32)
                copy_async_4_to(shared_address(to + j),
                                block_scale_a(g, p.matrix, smaller(p.row + j, g.m - 1), i), 4);
            if (lane < consumers)
                copy_async_4_to(
                    shared_address(to + ROWS + lane),
                    block_scale_b(g, p.matrix, smaller(p.column + lane * 64, g.n - 1), i), 4);
            barrier_arrive_after_copies(&s.full[at.stage]);
        }
    }

    /* Products ----------------------------------------------------------------------------------*/

    /* A thread's sums are of columns c of D (rows of the product), and eight further on, and of two
     * neighbours of every eight rows of D. */
    static __device__ __forceinline__ void promote(const scaled_arguments &g, const float *scales,
                                                   int group, const sum (&parts)[ROWS / 2],
                                                   sum (&sums)[ROWS / 2])
    {
        if (g.scaling != SCALE_BLOCKS) {
#pragma unroll
            for (int i = 0; i < ROWS / 2; i++)
                sums[i] += parts[i];
            return;
        }
        float2 of_a[ROWS / 8];
        float of_b = scales[ROWS + group];
#pragma unroll
        for (int i = 0; i < ROWS / 8; i++) /* all of them before the first is needed */
            of_a[i] = *(const float2 *)(scales + threadIdx.x % 4 * 2 + i * 8);
#pragma unroll
        for (int i = 0; i < ROWS / 2; i++)
            sums[i] += (sum)(parts[i] * ((i % 2 ? of_a[i / 4].y : of_a[i / 4].x) * of_b));
    }

    static __device__ __forceinline__ void consume(const scaled_arguments &g, const places &s,
                                                   sum (&sums)[ROWS / 2], int group, int consumers,
                                                   const part &p)
    {
        turn at = {0, 0};
        bool keeps = EXACT || g.fast; /* sums stay in the tensor cores */
        sum parts[ROWS / 2];
        for (int i = 0; i < ROWS / 2; i++)
            parts[i] = 0;
        for (int i = p.from; i < p.to; i++, at.next(g.stages)) {
            unsigned b = shared_address(s.b + (at.stage * consumers + group) * BOX);
            unsigned a = shared_address(s.a + at.stage * A_BYTES);
            barrier_wait(&s.full[at.stage], at.parity);
            wgmma_hold(parts);
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < BK / STEP_K; j++)
                numbers::multiply(parts, wgmma_tile(b + j * STEP_K, 1024, 0),
                                  wgmma_tile(a + j * STEP_K, 1024, 0), keeps || j > 0);
            wgmma_commit();
            wgmma_wait<0>();
            wgmma_hold(parts);
            if (!keeps)
                promote(g, s.scales[at.stage], group, parts, sums);
            __syncwarp();
            if (threadIdx.x % 32 == 0)
                barrier_arrive(&s.empty[at.stage]);
        }
        if (keeps)
            for (int i = 0; i < ROWS / 2; i++)
                sums[i] = parts[i];
    }

    /* Results -----------------------------------------------------------------------------------*/

    static __device__ __forceinline__ void put(const places &s, const sum (&sums)[ROWS / 2],
                                               int group)
    {
        int column = group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
        int row = threadIdx.x % 4 * 2;
#pragma unroll
        for (int i = 0; i < ROWS / 2; i++)
            s.sums[(row + i / 4 * 8 + i % 2) * s.pitch + column + i % 4 / 2 * 8] = sums[i];
    }

    /* Four neighbours' sums from the shared memory of a block of the cluster. */
    static __device__ __forceinline__ void add_from(unsigned rank, const sum *at, sum (&total)[4])
    {
        union {
            unsigned bits[4];
            sum number[4];
        } v;
        asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %4, %5; "
                     "ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [there]; }"
                     : "=r"(v.bits[0]), "=r"(v.bits[1]), "=r"(v.bits[2]), "=r"(v.bits[3])
                     : "r"(shared_address(at)), "r"(rank)
                     : "memory");
        for (int i = 0; i < 4; i++)
            total[i] += v.number[i];
    }

    static __device__ __forceinline__ void store_four(const scaled_arguments &g, float2 low,
                                                      float2 high, int row, int column, int matrix)
    {
        long long at = matrix * g.out_stride + row * g.out_row + column;
        if (!PLAIN && g.stores_directly) {
            store_pair(g, low, row, column, matrix);
            store_pair(g, high, row, column + 2, matrix);
        } else if (g.stored == STORE_F32) {
            *(float4 *)((float *)g.out + at) = make_float4(low.x, low.y, high.x, high.y);
        } else if (g.stored == STORE_E4M3) {
            *(unsigned *)((unsigned char *)g.out + at) =
                pack_e4m3(low.x, low.y) | (unsigned)pack_e4m3(high.x, high.y) << 16;
        } else {
            bool is_bf16 = g.stored == STORE_BF16;
            *(uint2 *)((unsigned short *)g.out + at) =
                uint2{is_bf16 ? pack_bf16(low.x, low.y) : pack_f16(low.x, low.y),
                      is_bf16 ? pack_bf16(high.x, high.y) : pack_f16(high.x, high.y)};
        }
    }

    /* 128 columns, which a warp has. */
    static __device__ __forceinline__ void quantise_four(const scaled_arguments &g, float2 &low,
                                                         float2 &high, int row, int column,
                                                         int matrix)
    {
        float largest =
            fmaxf(fmaxf(fabsf(low.x), fabsf(low.y)), fmaxf(fabsf(high.x), fabsf(high.y)));
        quantiser q = quantiser_of(largest_of_warp(largest));
        low = float2{low.x * q.factor, low.y * q.factor};
        high = float2{high.x * q.factor, high.y * q.factor};
        if (threadIdx.x % 32 == 0 && row < g.m && column < g.n)
            ((float *)
                 g.scale_out)[((long long)matrix * blocks_of(g.n) + column / SCALE_BLOCK) * g.m +
                              row] = q.scale;
    }

    /* This block's share of the tile, four columns at a time. */
    static __device__ __forceinline__ void finish_tile(const scaled_arguments &g, const places &s,
                                                       int columns, int rank, const part &p)
    {
        int fours_log2 = 31 - __clz(columns / 4);
        for (int i = threadIdx.x + rank * blockDim.x; i < ROWS << fours_log2;
             i += blockDim.x * g.parts) {
            int y = i >> fours_log2, x = (i - (y << fours_log2)) * 4;
            int row = p.row + y, column = p.column + x;
            const sum *at = &s.sums[y * s.pitch + x];
            sum total[4] = {0, 0, 0, 0};
            for (int other = 0; other < g.parts; other++) /* in every block in this order */
                add_from(other, at, total);
            float2 low = {(float)total[0], (float)total[1]};
            float2 high = {(float)total[2], (float)total[3]};
            low = finish_pair<PLAIN>(g, low, row, column, p.matrix);
            high = finish_pair<PLAIN>(g, high, row, column + 2, p.matrix);
            if (!PLAIN && g.quantises)
                quantise_four(g, low, high, row, column, p.matrix);
            if (row < g.m && column < g.n)
                store_four(g, low, high, row, column, p.matrix);
        }
    }

    /* The whole kernel --------------------------------------------------------------------------*/

    static __device__ __forceinline__ void run(const scaled_arguments &g)
    {
        extern __shared__ __align__(1024) unsigned char memory[];
        int consumers = blockDim.x / 128 - 1, group = threadIdx.x / 128;
        int rank = g.parts > 1 ? (int)cluster_rank() : 0, columns = 64 * consumers;
        bool by_blocks = g.scaling == SCALE_BLOCKS;
        places s = places_in(memory, consumers, g.stages);
        part p = part_of_block<ROWS, BK>(g, columns, rank);
        if (threadIdx.x == 32) {
            tma_prefetch_map(&g.a);
            tma_prefetch_map(&g.b);
        }
        if (threadIdx.x == 0) {
            for (int i = 0; i < g.stages; i++) {
                barrier_make(&s.full[i], by_blocks ? 1 + 32 : 1);
                barrier_make(&s.empty[i], 4 * consumers); /* of each warp */
            }
            barrier_made();
        }
        __syncthreads();
        cudaTriggerProgrammaticLaunchCompletion();
        sum sums[ROWS / 2];
        if (group < consumers) {
            for (int i = 0; i < ROWS / 2; i++)
                sums[i] = 0;
            consume(g, s, sums, group, consumers, p);
        } else if (threadIdx.x / 32 == 4 * consumers && elect_one()) {
            cudaGridDependencySynchronize(); /* A and B may be the work of the kernel before */
            produce(g, s, consumers, p);
        } else if (by_blocks && threadIdx.x / 32 == 4 * consumers + 1) {
            cudaGridDependencySynchronize();
            produce_scales(g, s, consumers, p);
        }
        __syncthreads(); /* nobody needs the stages any more */
        if (group < consumers)
            put(s, sums, group);
        cudaGridDependencySynchronize(); /* scales, C and the bias, too */
        if (g.parts > 1)
            cluster_sync();
        else
            __syncthreads();
        finish_tile(g, s, columns, rank, p);
        if (g.parts > 1)
            cluster_sync(); /* the others may still read this block's sums */
    }
};

#define SKINNY(numbers, rows)                                                                      \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                     \
        skinny_##rows(const __grid_constant__ scaled_arguments g)                                  \
    {                                                                                              \
        skinny<numbers, rows, false>::run(g);                                                      \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                     \
        skinny_##rows##_plain(const __grid_constant__ scaled_arguments g)                          \
    {                                                                                              \
        skinny<numbers, rows, true>::run(g);                                                       \
    }
/* Of B's and A's types, in this order. */
#define ALL_SKINNY(numbers)                                                                        \
    SKINNY(numbers, 8)                                                                             \
    SKINNY(numbers, 16)                                                                            \
    SKINNY(numbers, 32)                                                                            \
    SKINNY(numbers, 64)

#endif
