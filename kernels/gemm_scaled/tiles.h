/*
 * tiles.h: 8-bit products on Hopper's tensor cores, in the shape of kernels/gemm_fused/tiles.h: a
 * persistent grid of clusters, one producer warp and two consumer warpgroups a block, A by rows and
 * B by columns. New is what becomes of the sums: a sum of FP8 products keeps 14 bits, so that after
 * every 128 of k it is added to one in f32 ("promoted"), with the scales of its block if there are
 * any.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_TILES_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_TILES_H

#include "quantise.h"
#include "tile_ring.h"

/* How sums are kept: in the tensor cores alone; promoted; promoted and scaled by blocks. */
enum keeping { KEEP_FAST, KEEP_PROMOTED, KEEP_BLOCKS };

/* PLAIN: D is the product with its scales and no more, and leaves by TMA. */
template <class numbers, int BN, int STAGES, int CLUSTER, int KEEPING, bool PLAIN>
struct tiles : tile_ring<numbers, BN, STAGES, CLUSTER, KEEPING == KEEP_BLOCKS> {
    static const bool BY_BLOCKS = KEEPING == KEEP_BLOCKS;
    typedef tile_ring<numbers, BN, STAGES, CLUSTER, BY_BLOCKS> ring;
    typedef tile_results<typename ring::sum, BN, BY_BLOCKS, PLAIN> results;
    using typename ring::sum, typename ring::place, typename ring::stages, typename ring::turn;
    using typename ring::order;
    using ring::multiply, ring::leave, ring::LEAVING;
    typedef typename ring::block_scales block_scales;
    typedef typename block_scales::factors factors;
    /* Sums under way and promoted ones share the registers. Of 192 columns two parts can be under
     * way, of fewer the sums of two stages; the widest tiles are made in parts, one after the
     * other. */
    static const bool PROMOTES = KEEPING != KEEP_FAST, IN_TURNS = PROMOTES && BN <= 192;
    static const int PARTS = PROMOTES && BN >= 192 ? 2 : 1, PART = BN / PARTS;
    static const int AT_ONCE = BN == 192 ? 8 : 6; /* stages that are one piece of code */
    /* Promoted sums leave beside products. With scales of blocks it costs more than it saves, and
     * an epilogue needs too many registers for it. */
    static const bool BESIDE = PLAIN && KEEPING == KEEP_PROMOTED && !IN_TURNS;

    static __device__ __forceinline__ void consume_fast(const scaled_arguments &g, stages &s,
                                                        sum (&sums)[BN / 2], int group, turn &at)
    {
        for (int k = 0; k < g.k; k += BK, at.next()) {
            barrier_wait(&s.full[at.stage], at.parity);
            multiply(s, sums, group, at.stage, 0, k > 0);
            wgmma_wait<1>(); /* the products of the stage before this one are done */
            if (k > 0)
                leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
        }
        wgmma_wait<0>();
        wgmma_hold(sums);
        leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
    }

    /* Results -----------------------------------------------------------------------------------*/

    /* Until the place of a tile's box `number` is free again. Boxes take turns at LEAVING places,
     * and of an odd number of them the last has the place where the next tile's first goes. */
    static __device__ __forceinline__ void wait_for_place(int number)
    {
        if (number == 0 && BN / 64 % LEAVING != 0)
            tma_store_wait_read<0>();
        else
            tma_store_wait_read<LEAVING - 1>();
    }

    static __device__ __forceinline__ void sync_consumer(int group)
    {
        asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    }

    /* The scales of B's columns, some for each thread: read before the products, and put where all
     * can find them when those are done. Outside D any scale may be read. */
    struct column_scales {
        float of[(BN + 127) / 128];
    };
    static __device__ __forceinline__ column_scales load_columns(const scaled_arguments &g,
                                                                 place tile)
    {
        column_scales scales = {};
        if (!BY_BLOCKS && g.scaling == SCALE_LINES)
            for (int i = 0; i < (BN + 127) / 128; i++)
                scales.of[i] =
                    scale_of_column(g, tile.matrix, tile.column + i * 128 + threadIdx.x % 128);
        return scales;
    }
    static __device__ __forceinline__ void put_columns(const scaled_arguments &g, stages &s,
                                                       const column_scales &scales, int group)
    {
        if (BY_BLOCKS || g.scaling != SCALE_LINES)
            return;
        sync_consumer(group); /* those of the tile before have been read */
        for (int i = threadIdx.x % 128, j = 0; i < BN; i += 128, j++)
            s.columns[group][i] = scales.of[j];
        sync_consumer(group);
    }

    /* Through shared memory to the TMA unit. */
    static __device__ __forceinline__ void store_by_tma(const scaled_arguments &g, stages &s,
                                                        int number, const sum *of, place tile,
                                                        int group)
    {
        bool asks = threadIdx.x % 128 == 0;
        unsigned char *from = s.out[group][number % LEAVING];
        unsigned to = shared_address(from);
        if (asks)
            wait_for_place(number);
        sync_consumer(group);
        if (g.stored == STORE_BF16)
            results::template put_16<true>(to, of);
        else if (g.stored == STORE_F16)
            results::template put_16<false>(to, of);
        else
            results::put_8(to, of);
        tma_fence();
        sync_consumer(group);
        if (asks) {
            store_box(&g.d, tile.column, tile.row + group * 64, tile.matrix, from);
            tma_store_commit();
        }
    }

    /* The scales of A and B, for all sums of a tile. */
    static __device__ __forceinline__ void finish_scales(const scaled_arguments &g, const stages &s,
                                                         sum (&sums)[BN / 2], place tile, int group)
    {
        int row = tile.row + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
        float scale[2] = {scale_of_row(g, tile.matrix, smaller(row, g.m - 1)),
                          scale_of_row(g, tile.matrix, smaller(row + 8, g.m - 1))};
#pragma unroll
        for (int box = 0; box < BN / 64; box++)
            results::scale_all(g, sums + 32 * box, scale,
                               s.columns[group] + threadIdx.x % 4 * 2 + box * 64);
    }

    /* Boxes of 64 columns, one at a time; two where they are quantised. */
    template <int FIRST, int END>
    static __device__ __forceinline__ void store(const scaled_arguments &g, stages &s,
                                                 sum (&sums)[BN / 2], place tile, int group)
    {
        const bool CAN_QUANTISE = !PLAIN && BN % SCALE_BLOCK == 0;
        int lane_column = threadIdx.x % 4 * 2;
        place at = {tile.row + group * 64 +
                        (int)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4),
                    tile.column + lane_column, tile.matrix};
        float scale[2] = {scale_of_row(g, tile.matrix, smaller(at.row, g.m - 1)),
                          scale_of_row(g, tile.matrix, smaller(at.row + 8, g.m - 1))};
        const float *columns = s.columns[group] + lane_column;
        at.column += FIRST * 64;
        tile.column += FIRST * 64;
#pragma unroll
        for (int box = FIRST; box < END; box++, at.column += 64, tile.column += 64) {
            if (!CAN_QUANTISE || !g.quantises || box % 2 == 0)
                results::finish(g, sums + 32 * box, scale, columns + box * 64, at);
            if (CAN_QUANTISE && g.quantises && box % 2 == 0) {
                results::finish(g, sums + 32 * box + 32, scale, columns + box * 64 + 64,
                                place{at.row, at.column + 64, at.matrix});
                results::quantise(g, sums + 32 * box, at);
            }
            if (!PLAIN && g.stores_directly)
                results::store_directly(g, sums + 32 * box, at);
            else
                store_by_tma(g, s, box, sums + 32 * box, tile, group);
        }
    }

    /* All boxes of 16-bit numbers at once, where each has a place. */
    static __device__ __forceinline__ void store_at_once(const scaled_arguments &g, stages &s,
                                                         sum (&sums)[BN / 2], place tile, int group)
    {
        bool asks = threadIdx.x % 128 == 0;
        if (asks)
            tma_store_wait_read<0>();
        sync_consumer(group);
        finish_scales(g, s, sums, tile, group);
#pragma unroll
        for (int box = 0; box < BN / 64; box++)
            if (g.stored == STORE_BF16)
                results::template put_16<true>(shared_address(s.out[group][box]), sums + 32 * box);
            else
                results::template put_16<false>(shared_address(s.out[group][box]), sums + 32 * box);
        tma_fence();
        sync_consumer(group);
        if (asks) {
#pragma unroll
            for (int box = 0; box < BN / 64; box++)
                store_box(&g.d, tile.column + box * 64, tile.row + group * 64, tile.matrix,
                          s.out[group][box]);
            tma_store_commit();
        }
    }
    static __device__ __forceinline__ void store_tile(const scaled_arguments &g, stages &s,
                                                      sum (&sums)[BN / 2], place tile, int group,
                                                      const column_scales &columns)
    {
        put_columns(g, s, columns, group);
        if constexpr (PLAIN && LEAVING * 64 >= BN) {
            if (g.stored != STORE_E4M3) {
                store_at_once(g, s, sums, tile, group);
                return;
            }
        }
        store<0, BN / 64>(g, s, sums, tile, group);
    }

    /* Promoted sums -----------------------------------------------------------------------------*/

    /* Waits for a stage; its scales. */
    static __device__ __forceinline__ factors arrival(stages &s, int group, turn at)
    {
        factors f = {};
        barrier_wait(&s.full[at.stage], at.parity);
        if (BY_BLOCKS)
            f = block_scales::factors_at(s.scales[at.stage], group);
        return f;
    }
    static __device__ __forceinline__ void promote(float (&sums)[BN / 2], float (&part)[PART / 2],
                                                   int number, const factors &f)
    {
        wgmma_hold(part);
        block_scales::template promote<BY_BLOCKS>(sums, part, number, f);
        wgmma_hold(part);
    }

    /* COUNT stages: while the sums of one part (or of one stage, if there is one part) are
     * promoted, the products of the other are under way. It is one piece of code without a loop:
     * around a loop ptxas lets no product be under way whose sums the loop reads (C7514). */
    template <int COUNT>
    static __device__ __forceinline__ void promote_parts(stages &s, float (&sums)[BN / 2],
                                                         int group, turn &at)
    {
        float left[PART / 2], right[PART / 2];
        factors f = arrival(s, group, at);
        multiply(s, left, group, at.stage, 0, false);
        multiply(s, right, group, at.stage, 1, false);
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            turn then = at;
            factors f_then = f;
            then.next();
            wgmma_wait<1>();
            promote(sums, left, 0, f);
            if (i + 1 < COUNT) {
                f_then = arrival(s, group, then);
                multiply(s, left, group, then.stage, 0, false);
                wgmma_wait<1>();
            } else {
                wgmma_wait<0>();
            }
            leave(&s.empty[at.stage]);
            promote(sums, right, 1, f);
            if (i + 1 < COUNT)
                multiply(s, right, group, then.stage, 1, false);
            at = then;
            f = f_then;
        }
    }
    template <int COUNT>
    static __device__ __forceinline__ void promote_stages(stages &s, float (&sums)[BN / 2],
                                                          int group, turn &at)
    {
        float of[2][PART / 2];
        factors f = arrival(s, group, at);
        multiply(s, of[0], group, at.stage, 0, false);
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            turn then = at;
            factors f_then = f;
            then.next();
            if (i + 1 < COUNT) {
                f_then = arrival(s, group, then);
                multiply(s, of[(i + 1) % 2], group, then.stage, 0, false);
                wgmma_wait<1>();
            } else {
                wgmma_wait<0>();
            }
            leave(&s.empty[at.stage]);
            promote(sums, of[i % 2], 0, f);
            at = then;
            f = f_then;
        }
    }
    template <int COUNT>
    static __device__ __forceinline__ void promote_some(stages &s, float (&sums)[BN / 2], int group,
                                                        turn &at)
    {
        if constexpr (PARTS == 2)
            promote_parts<COUNT>(s, sums, group, at);
        else
            promote_stages<COUNT>(s, sums, group, at);
    }
    static __device__ __forceinline__ void consume_in_turns(const scaled_arguments &g, stages &s,
                                                            int group, int number, int total,
                                                            int clusters)
    {
        turn at = {0, 0};
        for (; number < total; number += clusters) {
            float sums[BN / 2];
            int steps = blocks_of(g.k);
            place tile = order::place_of(g, number);
            column_scales columns = load_columns(g, tile);
#pragma unroll
            for (int i = 0; i < BN / 2; i++)
                sums[i] = 0;
            for (; steps >= AT_ONCE; steps -= AT_ONCE)
                promote_some<AT_ONCE>(s, sums, group, at);
            for (; steps > 0; steps--)
                promote_some<1>(s, sums, group, at);
            store_tile(g, s, sums, tile, group, columns);
        }
    }

    /* Two parts, one after the other. While this warpgroup adds, the other one's products run. What
     * was promoted for the last time leaves beside products: the first part beside those of the
     * second, the rest beside the first ones of the next tile. */
    static __device__ __forceinline__ void consume_by_parts(const scaled_arguments &g, stages &s,
                                                            int group, int number, int total,
                                                            int clusters)
    {
        const int EARLY = BESIDE ? PART / 64 : 0;
        float sums[BN / 2];
        turn at = {0, 0};
        place tile = {};
        column_scales columns = {};
        for (bool first_tile = true; number < total; number += clusters, first_tile = false) {
            for (int k = 0; k < g.k; k += BK, at.next()) {
                float part[PART / 2];
                factors f = arrival(s, group, at);
                multiply(s, part, group, at.stage, 0, false);
                if (k == 0) {
                    if (BESIDE && !first_tile)
                        store<EARLY, BN / 64>(g, s, sums, tile, group);
                    tile = order::place_of(g, number);
                    columns = load_columns(g, tile);
#pragma unroll
                    for (int i = 0; i < BN / 2; i++)
                        sums[i] = 0;
                }
                wgmma_wait<0>();
                promote(sums, part, 0, f);
                multiply(s, part, group, at.stage, 1, false);
                if (BESIDE && k + BK >= g.k) {
                    put_columns(g, s, columns, group);
                    store<0, EARLY>(g, s, sums, tile, group);
                }
                wgmma_wait<0>();
                leave(&s.empty[at.stage]);
                promote(sums, part, 1, f);
            }
            if (!BESIDE)
                store_tile(g, s, sums, tile, group, columns);
        }
        if (BESIDE)
            store<EARLY, BN / 64>(g, s, sums, tile, group);
    }

    /* Tiles whose sums stay in the tensor cores; nothing is multiplied while one leaves. */
    static __device__ __forceinline__ void consume_plainly(const scaled_arguments &g, stages &s,
                                                           int group, int number, int total,
                                                           int clusters)
    {
        turn at = {0, 0};
        for (; number < total; number += clusters) {
            sum sums[BN / 2];
            place tile = order::place_of(g, number);
            column_scales columns = load_columns(g, tile);
            consume_fast(g, s, sums, group, at);
            store_tile(g, s, sums, tile, group, columns);
        }
    }

    /* D in 16 bits may wait, packed, and leave beside the products of the next tile's first stages,
     * a box beside each. */
    template <int BOX_AT>
    static __device__ __forceinline__ void store_packed(const scaled_arguments &g, stages &s,
                                                        const unsigned (&packed)[BN / 4],
                                                        place tile, int group)
    {
        bool asks = threadIdx.x % 128 == 0;
        unsigned char *from = s.out[group][BOX_AT % LEAVING];
        unsigned lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
        if (asks)
            wait_for_place(BOX_AT);
        sync_consumer(group);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned chunk = i * 2 + lane / 16;
            const unsigned *p = packed + BOX_AT * 16 + i * 4;
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                             shared_address(from) + row * 128 + ((chunk ^ row % 8) << 4)),
                         "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3])
                         : "memory");
        }
        tma_fence();
        sync_consumer(group);
        if (asks) {
            store_box(&g.d, tile.column + BOX_AT * 64, tile.row + group * 64, tile.matrix, from);
            tma_store_commit();
        }
    }
    template <int BOX_AT>
    static __device__ __forceinline__ void store_boxes(const scaled_arguments &g, stages &s,
                                                       const unsigned (&packed)[BN / 4], place tile,
                                                       int group)
    {
        if constexpr (BOX_AT < BN / 64) {
            store_packed<BOX_AT>(g, s, packed, tile, group);
            store_boxes<BOX_AT + 1>(g, s, packed, tile, group);
        }
    }
    template <int I, bool STORES>
    static __device__ __forceinline__ void
    begin(const scaled_arguments &g, stages &s, sum (&sums)[BN / 2],
          const unsigned (&packed)[BN / 4], place tile, int group, turn &at)
    {
        if constexpr (I < BN / 64) {
            barrier_wait(&s.full[at.stage], at.parity);
            multiply(s, sums, group, at.stage, 0, I > 0);
            if (STORES)
                store_packed<I>(g, s, packed, tile, group);
            wgmma_wait<1>();
            if (I > 0)
                leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
            at.next();
            begin<I + 1, STORES>(g, s, sums, packed, tile, group, at);
        }
    }
    static __device__ __forceinline__ void pack(const scaled_arguments &g, stages &s,
                                                sum (&sums)[BN / 2], unsigned (&packed)[BN / 4],
                                                place tile, int group)
    {
        finish_scales(g, s, sums, tile, group);
        if (g.stored == STORE_BF16) {
#pragma unroll
            for (int i = 0; i < BN / 4; i++)
                packed[i] = pack_bf16(get(sums[2 * i]), get(sums[2 * i + 1]));
        } else {
#pragma unroll
            for (int i = 0; i < BN / 4; i++)
                packed[i] = pack_f16(get(sums[2 * i]), get(sums[2 * i + 1]));
        }
    }
    static __device__ __forceinline__ void consume_packing(const scaled_arguments &g, stages &s,
                                                           int group, int number, int total,
                                                           int clusters)
    {
        turn at = {0, 0};
        unsigned packed[BN / 4];
        place before;
        for (bool first = true; number < total; number += clusters, first = false) {
            sum sums[BN / 2];
            place tile = order::place_of(g, number);
            column_scales columns = load_columns(g, tile);
            if (first)
                begin<0, false>(g, s, sums, packed, before, group, at);
            else
                begin<0, true>(g, s, sums, packed, before, group, at);
            for (int k = BN / 64 * BK; k < g.k; k += BK, at.next()) {
                barrier_wait(&s.full[at.stage], at.parity);
                multiply(s, sums, group, at.stage, 0, true);
                wgmma_wait<1>();
                leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
            }
            wgmma_wait<0>();
            wgmma_hold(sums);
            leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
            put_columns(g, s, columns, group);
            pack(g, s, sums, packed, tile, group);
            before = tile;
        }
        store_boxes<0>(g, s, packed, before, group);
    }

    static __device__ __forceinline__ void consume_all(const scaled_arguments &g, stages &s,
                                                       int group, int number, int total,
                                                       int clusters)
    {
        if (number >= total)
            return;
        if constexpr (IN_TURNS) {
            consume_in_turns(g, s, group, number, total, clusters);
        } else if constexpr (PROMOTES) {
            consume_by_parts(g, s, group, number, total, clusters);
        } else {
            bool waits = number + clusters < total && g.stored != STORE_E4M3;
            if (PLAIN && waits && g.k > (BN / 64 - 1) * BK)
                consume_packing(g, s, group, number, total, clusters);
            else
                consume_plainly(g, s, group, number, total, clusters);
        }
    }

    /* The whole kernel --------------------------------------------------------------------------*/

    static __device__ __forceinline__ void run(const scaled_arguments &g)
    {
        extern __shared__ __align__(1024) unsigned char memory[];
        stages &s = *(stages *)memory;
        int group = threadIdx.x / 128, clusters = gridDim.x / CLUSTER;
        int total = order::clusters_down(g) * order::tiles_across(g) * g.batch;
        if (threadIdx.x == 32) {
            tma_prefetch_map(&g.a);
            tma_prefetch_map(&g.b);
        }
        if (threadIdx.x == 0) {
            for (int i = 0; i < STAGES; i++) {
                barrier_make(&s.full[i], BY_BLOCKS ? 1 + 32 : 1);
                barrier_make(&s.empty[i], CLUSTER * CONSUMERS);
            }
            barrier_made();
        }
        cluster_sync(); /* the other blocks' barriers are made, too */
        cudaTriggerProgrammaticLaunchCompletion();
        turn at = {0, 0};
        if (group == CONSUMERS) {
            registers_lower_to<40>();
            if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one()) {
                cudaGridDependencySynchronize(); /* A and B may be the work of the kernel before */
                for (int i = blockIdx.x / CLUSTER; i < total; i += clusters)
                    ring::produce(g, s, at, order::place_of(g, i));
            } else if (BY_BLOCKS && threadIdx.x / 32 == 4 * CONSUMERS + 1) {
                cudaGridDependencySynchronize();
                for (int i = blockIdx.x / CLUSTER; i < total; i += clusters)
                    ring::produce_scales(g, s, at, order::place_of(g, i));
            }
        } else {
            registers_raise_to<232>();
            cudaGridDependencySynchronize(); /* so may the scales, C and the bias be */
            consume_all(g, s, group, blockIdx.x / CLUSTER, total, clusters);
            if (threadIdx.x % 128 == 0)
                tma_store_wait_read<0>();
        }
        cluster_sync(); /* a block's shared memory stays until the others no longer copy into it */
    }
};

#define TILES(numbers, keeping, bn, stages, cluster)                                               \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        tiles_##bn(const __grid_constant__ scaled_arguments g)                                     \
    {                                                                                              \
        tiles<numbers, bn, stages, cluster, keeping, false>::run(g);                               \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        tiles_##bn##_plain(const __grid_constant__ scaled_arguments g)                             \
    {                                                                                              \
        tiles<numbers, bn, stages, cluster, keeping, true>::run(g);                                \
    }
/* The widths that kernels/gemm_scaled/host/plan.c chooses from, with their stages and clusters. */
#define ALL_TILES(numbers, keeping)                                                                \
    TILES(numbers, keeping, 256, 4, 2)                                                             \
    TILES(numbers, keeping, 192, 4, 2)                                                             \
    TILES(numbers, keeping, 128, 6, 2)                                                             \
    TILES(numbers, keeping, 64, 8, 1)
/* The scales of blocks take some of the room. */
#define BLOCK_TILES(numbers)                                                                       \
    TILES(numbers, KEEP_BLOCKS, 256, 4, 2)                                                         \
    TILES(numbers, KEEP_BLOCKS, 192, 4, 2)                                                         \
    TILES(numbers, KEEP_BLOCKS, 128, 5, 2)                                                         \
    TILES(numbers, KEEP_BLOCKS, 64, 7, 1)

#endif
