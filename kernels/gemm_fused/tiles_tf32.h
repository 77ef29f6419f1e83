/*
 * tiles_tf32.h: the kernel of kernels/gemm/wgmma_tf32.cu with batches and epilogues, for f32 whose
 * factors may be rounded to TF32. A lies by rows. B comes through registers, so it may lie by rows,
 * with its k in lines (DOWN_B), or by columns, with its k along them. The TMA unit rounds.
 *
 * The product is turned round: a warpgroup makes 64 columns of D as rows of D' = B' A'. A block an
 * SM makes tile after tile; the two blocks of a cluster make neighbours in a row and share A's
 * tile.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_FUSED_TILES_TF32_H
#define LOCKSTEP_KERNELS_GEMM_FUSED_TILES_TF32_H

#include "generic.h"
#include "matrix_loads.h"
#include "tile_order.h"

enum {
    BM = 256,
    BN = 128,
    BK = 32, /* a line of the swizzle: 128 bytes */
    STAGES = 4,
    CLUSTER = 2,
    CONSUMERS = 2,
    THREADS = 128 * (1 + CONSUMERS),
    BOX = 32 * 128 /* bytes: 32 columns of B and 32 of k */
};

/* PLAIN: D is the product and no more, stored in pairs. */
template <bool DOWN_B, bool PLAIN> struct tiles_tf32_of {
    struct stages {
        unsigned char a[STAGES][BM * BK * 4], b[STAGES][BK * BN * 4];
        barrier full[STAGES], empty[STAGES];
    };

    typedef tile_place place;
    static __device__ __forceinline__ int tiles_down(const gemm_arguments &g)
    {
        return (g.m + BM - 1) / BM;
    }
    static __device__ __forceinline__ int pairs_across(const gemm_arguments &g)
    {
        return (g.n + CLUSTER * BN - 1) / (CLUSTER * BN);
    }
    static __device__ __forceinline__ place place_of(const gemm_arguments &g, int number)
    {
        int down = tiles_down(g), across = pairs_across(g);
        int matrix = g.batch > 1 ? quotient(number, down * across, g.per_matrix) : 0;
        number -= matrix * down * across;
        int band = quotient(number, g.group * across, g.per_band), first = band * g.group;
        int height = smaller(down - first, g.group), inside = number - first * across;
        int column = quotient(inside, height, __fdividef(1.0f, (float)height));
        return place{(first + inside - column * height) * BM,
                     (column * CLUSTER + (int)cluster_rank()) * BN, matrix};
    }

    /* It goes on from tile to tile. */
    typedef ring_turn<STAGES> turn;

    /* By one thread: the block's own tile of B, and its half of A's tile for both. Stages come in
     * pairs; beyond the end of k they are zeros. */
    static __device__ __forceinline__ void produce(const gemm_arguments &g, stages &s, turn &at,
                                                   place tile)
    {
        int half = (int)cluster_rank() * (BM / CLUSTER);
        int a_matrix = g.a_stays ? 0 : tile.matrix, b_matrix = g.b_stays ? 0 : tile.matrix;
        int end = (g.k + 2 * BK - 1) / (2 * BK) * (2 * BK);
        for (int step = 0; step < end; step += BK, at.next()) {
            barrier *full = &s.full[at.stage];
            barrier_wait(&s.empty[at.stage], at.parity ^ 1);
            barrier_arrive_expecting(full, sizeof s.a[0] + sizeof s.b[0]);
            load_box_for((1 << CLUSTER) - 1, s.a[at.stage] + half * 128, &g.a, step,
                         tile.row + half, a_matrix, full);
            for (int i = 0; i < BN; i += 32)
                if (DOWN_B)
                    load_box(s.b[at.stage] + i / 32 * BOX, &g.b, tile.column + i, step, b_matrix,
                             full);
                else
                    load_box(s.b[at.stage] + i / 32 * BOX, &g.b, step, tile.column + i, b_matrix,
                             full);
        }
    }

    /* The warpgroup's rows of B' are its 64 columns of B. A thread holds two of them for each k,
     * and we choose which: neighbours. With k in lines, one load fetches both, in chunks that the
     * swizzle spreads over all banks for the four k of a load. This is the first, within the
     * block's columns. */
    static __device__ __forceinline__ int column_of_thread(int group)
    {
        int warp = threadIdx.x % 128 / 32, row = threadIdx.x % 32 / 4;
        if (!DOWN_B)
            return group * 64 + warp * 16 + row * 2;
        int chunk = row / 2 % 2 * 4 + row / 4 + warp % 2 * 2;
        return group * 64 + warp / 2 * 32 + chunk * 4 + row % 2 * 2;
    }

    /* Its elements of B' for all of a stage: 8 k a product, of which a thread has two. */
    static __device__ __forceinline__ void load_down(unsigned (&of_b)[BK / 8][4], unsigned tile,
                                                     int column)
    {
#pragma unroll
        for (int i = 0; i < BK / 8; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                unsigned line = h * 4 + threadIdx.x % 4, chunk = column % 32 / 4 ^ line;
                asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                             : "=r"(of_b[i][2 * h]), "=r"(of_b[i][2 * h + 1])
                             : "r"(tile + column / 32 * BOX + (i * 8 + line) * 128 + chunk * 16 +
                                   column % 4 * 4)
                             : "memory");
            }
    }
    /* Along k, ldmatrix takes four bytes as two elements: four matrices are the even columns of the
     * warp's 16 with four of k, the odd ones, and both with the next four. */
    static __device__ __forceinline__ void load_along(unsigned (&of_b)[BK / 8][4], unsigned tile,
                                                      int group)
    {
        unsigned lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
        unsigned line = group * 64 + warp * 16 + lane % 8 * 2 + lane / 8 % 2;
#pragma unroll
        for (int i = 0; i < BK / 8; i++)
            load_matrices(of_b[i], tile + line * 128 + ((i * 2 + lane / 16 ^ line % 8) << 4));
    }

    static __device__ __forceinline__ void leave(barrier *empty)
    {
        if (threadIdx.x % 128 < CLUSTER)
            barrier_arrive_in(empty, threadIdx.x % 128);
    }

    /* One stage. The products of the stage before it run on while this one's elements are loaded.
     */
    static __device__ __forceinline__ void consume_stage(stages &s, float (&sums)[BM / 2],
                                                         unsigned (&of_b)[BK / 8][4], turn &at,
                                                         int group, bool first)
    {
        unsigned a = shared_address(s.a[at.stage]);
        barrier_wait(&s.full[at.stage], at.parity);
        if (DOWN_B)
            load_down(of_b, shared_address(s.b[at.stage]), column_of_thread(group));
        else
            load_along(of_b, shared_address(s.b[at.stage]), group);
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < BK / 8; i++)
            wgmma_tf32_from_registers(sums, of_b[i], wgmma_tile(a + i * 32, 1024, 0),
                                      !first || i > 0);
        wgmma_commit();
        wgmma_hold(sums);
        wgmma_wait<1>();
        if (!first)
            leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
        at.next();
    }

    static __device__ __forceinline__ void consume(const gemm_arguments &g, stages &s,
                                                   float (&sums)[BM / 2], int group, turn &at)
    {
        /* While products read the one, the other is filled. A branch between the two would make
         * ptxas wait for every product. */
        unsigned even[BK / 8][4], odd[BK / 8][4];
        for (int step = 0; step < g.k; step += 2 * BK) {
            consume_stage(s, sums, even, at, group, step == 0);
            consume_stage(s, sums, odd, at, group, false);
        }
        wgmma_wait<0>();
        wgmma_hold(sums);
        leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
    }

    /* sums[4 i + 2 h + e] is row 8 i + e of D's tile from `at` on, column h. Below and beside D the
     * nearest number of C and of the bias is read. Every choice stands outside a loop: with one for
     * each number the code would not fit the instruction cache. */
    static __device__ __forceinline__ void finish_all(const gemm_arguments &g,
                                                      float (&sums)[BM / 2], place at)
    {
        const float *bias = (const float *)g.bias;
        int last_row = g.m - 1,
            columns[2] = {smaller(at.column, g.n - 1), smaller(at.column + 1, g.n - 1)};
#pragma unroll
        for (int i = 0; i < BM / 2; i++)
            sums[i] *= g.alpha;
        if (g.c) {
            const float *c = (const float *)g.c + at.matrix * g.c_stride;
#pragma unroll
            for (int i = 0; i < BM / 2; i++)
                sums[i] +=
                    g.beta *
                    c[smaller(at.row + i / 4 * 8 + i % 2, last_row) * g.c_row + columns[i % 4 / 2]];
        }
        if (g.bias && g.bias_down) {
#pragma unroll
            for (int i = 0; i < BM / 2; i++)
                sums[i] += bias[smaller(at.row + i / 4 * 8 + i % 2, last_row)];
        } else if (g.bias) {
            float add[2] = {bias[columns[0]], bias[columns[1]]};
#pragma unroll
            for (int i = 0; i < BM / 2; i++)
                sums[i] += add[i % 4 / 2];
        }
        if (g.activation == GEMM_RELU) {
#pragma unroll
            for (int i = 0; i < BM / 2; i++)
                sums[i] = relu(sums[i]);
        } else if (g.activation == GEMM_GELU) {
#pragma unroll
            for (int i = 0; i < BM / 2; i++)
                sums[i] = gelu(sums[i]);
        } else if (g.activation == GEMM_SILU) {
#pragma unroll
            for (int i = 0; i < BM / 2; i++)
                sums[i] = silu(sums[i]);
        }
    }

    static __device__ __forceinline__ void store(const gemm_arguments &g,
                                                 const float (&sums)[BM / 2], place at)
    {
        float *out = (float *)g.out + at.matrix * g.out_stride + at.column;
        if (!PLAIN && g.stores_directly) {
#pragma unroll
            for (int i = 0; i < BM / 2; i += 2) {
                int e = i / 2 % 2, first = i / 4 * 4 + e;
                store_pair<f32_numbers>(g, float2{sums[first], sums[first + 2]},
                                        at.row + i / 4 * 8 + e, at.column, at.matrix);
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < BM / 2; i += 2) {
            int e = i / 2 % 2, first = i / 4 * 4 + e, row = at.row + i / 4 * 8 + e;
            if (row < g.m && at.column < g.n)
                *(float2 *)(out + row * g.out_row) = float2{sums[first], sums[first + 2]};
        }
    }

    static __device__ __forceinline__ void run(const gemm_arguments &g)
    {
        extern __shared__ __align__(1024) unsigned char memory[];
        stages &s = *(stages *)memory;
        int group = threadIdx.x / 128, clusters = gridDim.x / CLUSTER;
        int total = tiles_down(g) * pairs_across(g) * g.batch;
        if (threadIdx.x == 0) {
            for (int i = 0; i < STAGES; i++) {
                barrier_make(&s.full[i], 1);
                barrier_make(&s.empty[i], CLUSTER * CONSUMERS);
            }
            barrier_made();
        }
        cluster_sync(); /* the other block's barriers are made, too */
        cudaTriggerProgrammaticLaunchCompletion();
        turn at = {0, 0};
        if (group == CONSUMERS) {
            registers_lower_to<40>();
            if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one()) {
                cudaGridDependencySynchronize(); /* A and B may be the work of the kernel before */
                for (int i = blockIdx.x / CLUSTER; i < total; i += clusters)
                    produce(g, s, at, place_of(g, i));
            }
        } else {
            registers_raise_to<232>();
            cudaGridDependencySynchronize(); /* so may C and the bias be */
            for (int i = blockIdx.x / CLUSTER; i < total; i += clusters) {
                float sums[BM / 2];
                consume(g, s, sums, group, at);
                place at_tile = place_of(g, i);
                at_tile.row += threadIdx.x % 4 * 2;
                at_tile.column += column_of_thread(group);
                if (!PLAIN)
                    finish_all(g, sums, at_tile);
                store(g, sums, at_tile);
            }
        }
        cluster_sync(); /* a block's shared memory stays until the other no longer copies into it */
    }
};

#define TILES_TF32(down_b)                                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        tiles_tf32(const __grid_constant__ gemm_arguments g)                                       \
    {                                                                                              \
        tiles_tf32_of<down_b, false>::run(g);                                                      \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        tiles_tf32_plain(const __grid_constant__ gemm_arguments g)                                 \
    {                                                                                              \
        tiles_tf32_of<down_b, true>::run(g);                                                       \
    }

#endif
