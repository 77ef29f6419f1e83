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
#include "tile_results.h"

enum {
    BM = 128,
    BK = 128, /* a line of the swizzle, and the k of a block of scales */
    CONSUMERS = 2,
    THREADS = 128 * (1 + CONSUMERS),
    BOX = 64 * 128, /* bytes of 64 lines of the swizzle */
    LEAVING = 2,    /* boxes of a consumer that are on their way out */
    STEP_K = 32     /* of one product */
};

/* How sums are kept: in the tensor cores alone; promoted; promoted and scaled by blocks. */
enum keeping { KEEP_FAST, KEEP_PROMOTED, KEEP_BLOCKS };

/* PLAIN: D is the product with its scales and no more, and leaves by TMA. */
template <class numbers, int BN, int STAGES, int CLUSTER, int KEEPING, bool PLAIN> struct tiles {
    typedef typename numbers::sum sum;
    /* Sums under way and promoted ones share the registers: the widest tiles are made in two parts,
     * one after the other; at 192 columns both parts can be under way. */
    static const int PART = KEEPING == KEEP_FAST || BN < 192 ? BN : BN / 2;
    static const int PARTS = BN / PART;
    static const int AT_ONCE = BN == 192 ? PARTS : 1;
    /* Promoted sums leave beside products. It costs more than it saves at 192 columns and with
     * scales of blocks, and an epilogue needs too many registers for it. */
    static const bool BESIDE = PLAIN && KEEPING == KEEP_PROMOTED && BN == 256;
    static const bool BY_BLOCKS = KEEPING == KEEP_BLOCKS;
    /* Columns that have a scale of B in common. */
    static const int COMMON = BN % SCALE_BLOCK == 0 ? SCALE_BLOCK : 64;

    struct stages {
        unsigned char a[STAGES][BM * BK], b[STAGES][BN * BK];
        unsigned char out[CONSUMERS][LEAVING][BOX];
        float scales[BY_BLOCKS ? STAGES : 1][BM + 4]; /* of blocks: A's, then B's */
        float columns[CONSUMERS][BY_BLOCKS ? 1 : BN]; /* scales of columns */
        barrier full[STAGES], empty[STAGES];
    };

    typedef tile_place place;
    typedef tile_results<sum, BN, BY_BLOCKS, PLAIN> results;
    static __device__ __forceinline__ int clusters_down(const scaled_arguments &g)
    {
        return (g.m + CLUSTER * BM - 1) / (CLUSTER * BM);
    }
    static __device__ __forceinline__ int tiles_across(const scaled_arguments &g)
    {
        return (g.n + BN - 1) / BN;
    }
    static __device__ __forceinline__ place place_of(const scaled_arguments &g, int number)
    {
        int down = clusters_down(g), across = tiles_across(g);
        int matrix = g.batch > 1 ? quotient(number, down * across, g.per_matrix) : 0;
        number -= matrix * down * across;
        int band = quotient(number, g.group * across, g.per_band), first = band * g.group;
        int height = down - first < g.group ? down - first : g.group;
        int inside = number - first * across, rank = CLUSTER > 1 ? (int)cluster_rank() : 0;
        int column = quotient(inside, height, __fdividef(1.0f, (float)height));
        return place{((first + inside - column * height) * CLUSTER + rank) * BM, column * BN,
                     matrix};
    }

    /* A position in the ring of stages, and the parity of its turn. */
    struct turn {
        int stage;
        unsigned parity;
        __device__ __forceinline__ void next(void)
        {
            if (++stage == STAGES) {
                stage = 0;
                parity ^= 1;
            }
        }
    };

    /* Loads -------------------------------------------------------------------------------------*/

    /* The blocks of a cluster share B: each loads some of its lines for all. */
    static __device__ __forceinline__ void produce(const scaled_arguments &g, stages &s, turn &at,
                                                   place tile)
    {
        const int lines = BN / CLUSTER;
        int rank = CLUSTER > 1 ? (int)cluster_rank() : 0;
        int a_matrix = g.a_stays ? 0 : tile.matrix, b_matrix = g.b_stays ? 0 : tile.matrix;
        for (int k = 0; k < g.k; k += BK, at.next()) {
            barrier *full = &s.full[at.stage];
            unsigned char *b = s.b[at.stage] + rank * lines * BK;
            barrier_wait(&s.empty[at.stage], at.parity ^ 1);
            barrier_arrive_expecting(full, (BM + BN) * BK);
            load_box(s.a[at.stage], &g.a, k, tile.row, a_matrix, full);
            if (CLUSTER > 1)
                load_box_for((1 << CLUSTER) - 1, b, &g.b, k, tile.column + rank * lines, b_matrix,
                             full);
            else
                load_box(b, &g.b, k, tile.column, b_matrix, full);
        }
    }

    /* The scales of blocks come number by number, without a word about their alignment: a warp of
     * its own copies them, and each of its threads arrives when its copies have. */
    static __device__ __forceinline__ void produce_scales(const scaled_arguments &g, stages &s,
                                                          turn &at, place tile)
    {
        int lane = threadIdx.x % 32, blocks = blocks_of(g.k);
        for (int block = 0; block < blocks; block++, at.next()) {
            float *to = s.scales[at.stage];
            barrier_wait(&s.empty[at.stage], at.parity ^ 1);
            for (int i = lane; i < BM; i += 32)
                copy_async_4_to(
                    shared_address(to + i),
                    block_scale_a(g, tile.matrix, smaller(tile.row + i, g.m - 1), block), 4);
            if (lane < BN / COMMON)
                copy_async_4_to(shared_address(to + BM + lane),
                                block_scale_b(g, tile.matrix,
                                              smaller(tile.column + lane * COMMON, g.n - 1), block),
                                4);
            barrier_arrive_after_copies(&s.full[at.stage]);
        }
    }

    static __device__ __forceinline__ void leave(barrier *empty)
    {
        if (threadIdx.x % 128 < CLUSTER)
            barrier_arrive_in(empty, threadIdx.x % 128);
    }

    /* Products ----------------------------------------------------------------------------------*/

    /* All of a stage's k, for the columns from part * PART on; not waited for. */
    template <int count>
    static __device__ __forceinline__ void multiply(stages &s, sum (&sums)[count], int group,
                                                    int stage, int part, bool add)
    {
        unsigned a = shared_address(s.a[stage]) + group * BOX;
        unsigned b = shared_address(s.b[stage]) + part * PART * BK;
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < BK / STEP_K; i++)
            numbers::multiply(sums, wgmma_tile(a + i * STEP_K, 1024, 0),
                              wgmma_tile(b + i * STEP_K, 1024, 0), add || i > 0);
        wgmma_commit();
        wgmma_hold(sums);
    }

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

    /* The scales of a block, for this thread's two rows and for all columns. */
    struct factors {
        float row[2], column[BN / COMMON];
    };
    static __device__ __forceinline__ factors factors_at(const stages &s, int group, int stage)
    {
        factors f;
        int row = group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
        for (int i = 0; i < 2; i++)
            f.row[i] = s.scales[stage][row + 8 * i];
#pragma unroll
        for (int i = 0; i < BN / COMMON; i++)
            f.column[i] = s.scales[stage][BM + i];
        return f;
    }

    static __device__ __forceinline__ void
    promote(float (&sums)[BN / 2], const float (&part)[PART / 2], int number, const factors &f)
    {
#pragma unroll
        for (int i = 0; i < PART / 2; i++) {
            int column = number * PART + i / 4 * 8;
            float &to = sums[number * PART / 2 + i];
            if (BY_BLOCKS)
                to += part[i] * (f.row[i % 4 / 2] * f.column[column / COMMON]);
            else
                to += part[i];
        }
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

    /* Tiles with promoted sums. While this warpgroup adds, the other one's products run, if not at
     * full speed: FP8 takes most of what registers can deliver. What was promoted for the last time
     * leaves beside products: the first part beside those of the second, the rest beside the first
     * ones of the next tile. */
    static __device__ __forceinline__ void consume_promoted(const scaled_arguments &g, stages &s,
                                                            int group, int number, int total,
                                                            int clusters)
    {
        const int EARLY = BESIDE && AT_ONCE < PARTS ? PART / 64 : 0;
        float sums[BN / 2];
        factors scales = {};
        turn at = {0, 0};
        place tile = {};
        column_scales columns = {};
        for (bool first_tile = true; number < total; number += clusters, first_tile = false) {
            for (int k = 0; k < g.k; k += BK, at.next()) {
                float parts[AT_ONCE][PART / 2];
                barrier_wait(&s.full[at.stage], at.parity);
                if (BY_BLOCKS)
                    scales = factors_at(s, group, at.stage);
#pragma unroll
                for (int i = 0; i < AT_ONCE; i++)
                    multiply(s, parts[i], group, at.stage, i, false);
                if (k == 0) {
                    if (BESIDE && !first_tile) {
                        if (EARLY == 0)
                            put_columns(g, s, columns, group);
                        store<EARLY, BN / 64>(g, s, sums, tile, group);
                    }
                    tile = place_of(g, number);
                    columns = load_columns(g, tile);
#pragma unroll
                    for (int i = 0; i < BN / 2; i++)
                        sums[i] = 0;
                }
#pragma unroll
                for (int i = 0; i < PARTS; i++) {
                    float(&part)[PART / 2] = parts[i % AT_ONCE];
                    if (i >= AT_ONCE) {
                        multiply(s, part, group, at.stage, i, false);
                        if (EARLY > 0 && k + BK >= g.k) {
                            put_columns(g, s, columns, group);
                            store<0, EARLY>(g, s, sums, tile, group);
                        }
                    }
                    if (i + 1 < AT_ONCE)
                        wgmma_wait<1>();
                    else
                        wgmma_wait<0>();
                    wgmma_hold(part);
                    if (i == PARTS - 1)
                        leave(&s.empty[at.stage]);
                    promote(sums, part, i, scales);
                }
            }
            if (!BESIDE) {
                put_columns(g, s, columns, group);
                store<0, BN / 64>(g, s, sums, tile, group);
            }
        }
        if (BESIDE) {
            if (EARLY == 0)
                put_columns(g, s, columns, group);
            store<EARLY, BN / 64>(g, s, sums, tile, group);
        }
    }

    /* Tiles whose sums stay in the tensor cores; nothing is multiplied while one leaves. */
    static __device__ __forceinline__ void consume_plainly(const scaled_arguments &g, stages &s,
                                                           int group, int number, int total,
                                                           int clusters)
    {
        turn at = {0, 0};
        for (; number < total; number += clusters) {
            sum sums[BN / 2];
            place tile = place_of(g, number);
            column_scales columns = load_columns(g, tile);
            consume_fast(g, s, sums, group, at);
            put_columns(g, s, columns, group);
            store<0, BN / 64>(g, s, sums, tile, group);
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
        int row = tile.row + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
        float scale[2] = {scale_of_row(g, tile.matrix, smaller(row, g.m - 1)),
                          scale_of_row(g, tile.matrix, smaller(row + 8, g.m - 1))};
#pragma unroll
        for (int box = 0; box < BN / 64; box++)
            results::scale_all(g, sums + 32 * box, scale,
                               s.columns[group] + threadIdx.x % 4 * 2 + box * 64);
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
            place tile = place_of(g, number);
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
        if constexpr (KEEPING != KEEP_FAST) {
            consume_promoted(g, s, group, number, total, clusters);
            return;
        }
        if constexpr (PLAIN && KEEPING == KEEP_FAST) {
            if (number + clusters < total && g.stored != STORE_E4M3 && g.k > (BN / 64 - 1) * BK) {
                consume_packing(g, s, group, number, total, clusters);
                return;
            }
        }
        if constexpr (KEEPING == KEEP_FAST)
            consume_plainly(g, s, group, number, total, clusters);
    }

    /* The whole kernel --------------------------------------------------------------------------*/

    static __device__ __forceinline__ void run(const scaled_arguments &g)
    {
        extern __shared__ __align__(1024) unsigned char memory[];
        stages &s = *(stages *)memory;
        int group = threadIdx.x / 128, clusters = gridDim.x / CLUSTER;
        int total = clusters_down(g) * tiles_across(g) * g.batch;
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
                    produce(g, s, at, place_of(g, i));
            } else if (BY_BLOCKS && threadIdx.x / 32 == 4 * CONSUMERS + 1) {
                cudaGridDependencySynchronize();
                for (int i = blockIdx.x / CLUSTER; i < total; i += clusters)
                    produce_scales(g, s, at, place_of(g, i));
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
