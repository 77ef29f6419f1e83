/*
 * skinny.h: products with few rows, and small ones, where the time is B's way from memory or the
 * latency of a launch. Two changes against tiles.h. The roles change: 64 columns of C stand where a
 * warpgroup has its 64 rows, and the rows of C, as few as eight, stand where it has columns; so
 * hardly a product is wasted. And the blocks of a cluster share one tile, each with a part of k;
 * their sums meet in distributed shared memory, always in the same order.
 *
 * Blocks have a producer warpgroup and blockDim.x / 128 - 1 consumers with 64 columns each.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_FUSED_SKINNY_H
#define LOCKSTEP_KERNELS_GEMM_FUSED_SKINNY_H

#include "generic.h"
#include "skinny_part.h"

enum { BK = 64, BOX = 64 * 128, MOST_THREADS = 640 };

/* From the shared memory of another block of the cluster. */
static __device__ __forceinline__ float4 load_from(unsigned rank, const float *at)
{
    float4 v;
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %4, %5; "
                 "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there]; }"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(shared_address(at)), "r"(rank)
                 : "memory");
    return v;
}

template <class numbers, bool DOWN_B, int ROWS, bool PLAIN> struct skinny {
    static const int A_BYTES = (ROWS * BK * 2 + 1023) / 1024 * 1024; /* of a stage */

    /* Where things lie in shared memory; kernels/gemm_fused/host/plan.c asks for as much. */
    struct places {
        unsigned char *b, *a; /* of stage 0 */
        float *sums;          /* in place of the stages, at the end */
        int pitch;            /* of sums */
        barrier *full, *empty;
    };
    static __device__ __forceinline__ places places_in(unsigned char *memory, int consumers,
                                                       int stages)
    {
        int b_bytes = stages * consumers * BOX, pitch = 64 * consumers + 4;
        int tiles = b_bytes + stages * A_BYTES, sums = ROWS * pitch * 4;
        barrier *barriers = (barrier *)(memory + (tiles > sums ? tiles : sums));
        return places{memory, memory + b_bytes, (float *)memory,
                      pitch,  barriers,         barriers + stages};
    }

    typedef skinny_part part;

    static __device__ __forceinline__ void produce(const gemm_arguments &g, const places &s,
                                                   int consumers, const part &p)
    {
        int stage = 0, a_matrix = g.a_stays ? 0 : p.matrix, b_matrix = g.b_stays ? 0 : p.matrix;
        unsigned parity = 1;
        for (int i = p.from; i < p.to; i++) {
            barrier *full = &s.full[stage];
            unsigned char *b = s.b + stage * consumers * BOX;
            barrier_wait(&s.empty[stage], parity);
            barrier_arrive_expecting(full, consumers * BOX + ROWS * BK * 2);
            for (int j = 0; j < consumers; j++)
                if (DOWN_B)
                    load_box(b + j * BOX, &g.b, p.column + j * 64, i * BK, b_matrix, full);
                else
                    load_box(b + j * BOX, &g.b, i * BK, p.column + j * 64, b_matrix, full);
            load_box(s.a + stage * A_BYTES, &g.a, i * BK, p.row, a_matrix, full);
            if (++stage == g.stages) {
                stage = 0;
                parity ^= 1;
            }
        }
    }

    static __device__ __forceinline__ void consume(const gemm_arguments &g, const places &s,
                                                   float (&sums)[ROWS / 2], int group,
                                                   int consumers, const part &p)
    {
        int stage = 0, before = 0;
        unsigned parity = 0;
        for (int i = p.from; i < p.to; i++) {
            unsigned b = shared_address(s.b + (stage * consumers + group) * BOX);
            unsigned a = shared_address(s.a + stage * A_BYTES);
            barrier_wait(&s.full[stage], parity);
            wgmma_hold(sums);
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < BK / 16; j++)
                numbers::template multiply<DOWN_B, 0>(
                    sums, wgmma_tile(b + j * (DOWN_B ? 2048 : 32), 1024, DOWN_B ? BOX : 0),
                    wgmma_tile(a + j * 32, 1024, 0), 1);
            wgmma_commit();
            wgmma_hold(sums);
            wgmma_wait<1>(); /* the products of the stage before this one are done */
            if (i > p.from && threadIdx.x % 128 == 0)
                barrier_arrive(&s.empty[before]);
            before = stage;
            if (++stage == g.stages) {
                stage = 0;
                parity ^= 1;
            }
        }
        wgmma_wait<0>();
        wgmma_hold(sums);
    }

    /* A thread's sums are of columns c (rows of the product), and eight further on. */
    static __device__ __forceinline__ void put(const places &s, const float (&sums)[ROWS / 2],
                                               int group)
    {
        int column = group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
        int row = threadIdx.x % 4 * 2;
#pragma unroll
        for (int i = 0; i < ROWS / 2; i++)
            s.sums[(row + i / 4 * 8 + i % 2) * s.pitch + column + i % 4 / 2 * 8] = sums[i];
    }

    /* This block's share of the tile, four columns at a time. */
    static __device__ __forceinline__ void finish_tile(const gemm_arguments &g, const places &s,
                                                       int columns, int rank, const part &p)
    {
        unsigned short *out = (unsigned short *)g.out + p.matrix * g.out_stride;
        int fours_log2 = 31 - __clz(columns / 4);
        for (int i = threadIdx.x + rank * blockDim.x; i < ROWS << fours_log2;
             i += blockDim.x * g.parts) {
            int y = i >> fours_log2, x = (i - (y << fours_log2)) * 4;
            int row = p.row + y, column = p.column + x;
            if (row >= g.m || column >= g.n)
                continue;
            const float *at = &s.sums[y * s.pitch + x];
            float4 sum = g.parts > 1 ? load_from(0, at) : *(const float4 *)at;
            for (int other = 1; other < g.parts; other++) { /* in every block in this order */
                float4 v = load_from(other, at);
                sum.x += v.x;
                sum.y += v.y;
                sum.z += v.z;
                sum.w += v.w;
            }
            float2 low = {sum.x, sum.y}, high = {sum.z, sum.w};
            if (!PLAIN) {
                low = finish<numbers>(g, low, row, column, p.matrix);
                high = finish<numbers>(g, high, row, column + 2, p.matrix);
            }
            if (!PLAIN && g.stores_directly) {
                store_pair<numbers>(g, low, row, column, p.matrix);
                store_pair<numbers>(g, high, row, column + 2, p.matrix);
            } else {
                *(uint2 *)(out + row * g.out_row + column) =
                    uint2{numbers::pack(low.x, low.y), numbers::pack(high.x, high.y)};
            }
        }
    }

    static __device__ __forceinline__ void run(const gemm_arguments &g)
    {
        extern __shared__ __align__(1024) unsigned char memory[];
        int consumers = blockDim.x / 128 - 1, group = threadIdx.x / 128;
        int rank = g.parts > 1 ? (int)cluster_rank() : 0, columns = 64 * consumers;
        places s = places_in(memory, consumers, g.stages);
        part p = part_of_block<ROWS, BK>(g, columns, rank);
        if (threadIdx.x == 32) {
            tma_prefetch_map(&g.a);
            tma_prefetch_map(&g.b);
        }
        if (threadIdx.x == 0) {
            for (int i = 0; i < g.stages; i++) {
                barrier_make(&s.full[i], 1);
                barrier_make(&s.empty[i], consumers);
            }
            barrier_made();
        }
        __syncthreads();
        cudaTriggerProgrammaticLaunchCompletion();
        float sums[ROWS / 2];
        if (group < consumers) {
            for (int i = 0; i < ROWS / 2; i++)
                sums[i] = 0;
            consume(g, s, sums, group, consumers, p);
        } else if (threadIdx.x / 32 == 4 * consumers && elect_one()) {
            cudaGridDependencySynchronize(); /* A and B may be the work of the kernel before */
            produce(g, s, consumers, p);
        }
        __syncthreads(); /* nobody needs the stages any more */
        if (group < consumers)
            put(s, sums, group);
        if (!PLAIN)
            cudaGridDependencySynchronize(); /* C and the bias, too */
        if (g.parts > 1)
            cluster_sync();
        else
            __syncthreads();
        finish_tile(g, s, columns, rank, p);
        if (g.parts > 1)
            cluster_sync(); /* the others may still read this block's sums */
    }
};

#define SKINNY(numbers, down_b, rows)                                                              \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                     \
        skinny_##rows(const __grid_constant__ gemm_arguments g)                                    \
    {                                                                                              \
        skinny<numbers, down_b, rows, false>::run(g);                                              \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                     \
        skinny_##rows##_plain(const __grid_constant__ gemm_arguments g)                            \
    {                                                                                              \
        skinny<numbers, down_b, rows, true>::run(g);                                               \
    }
#define ALL_SKINNY(numbers, down_b)                                                                \
    SKINNY(numbers, down_b, 8)                                                                     \
    SKINNY(numbers, down_b, 16)                                                                    \
    SKINNY(numbers, down_b, 32)                                                                    \
    SKINNY(numbers, down_b, 64)                                                                    \
    SKINNY(numbers, down_b, 128)

#endif
