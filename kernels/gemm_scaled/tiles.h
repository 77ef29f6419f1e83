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
#include "results.h"

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

    struct place {
        int row, column, matrix;
    };
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

    /* While this warpgroup adds, the other one's products run, if not at full speed: FP8 takes most
     * of what registers can deliver. */
    static __device__ __forceinline__ void consume_promoted(const scaled_arguments &g, stages &s,
                                                            float (&sums)[BN / 2], int group,
                                                            turn &at)
    {
        factors scales = {};
#pragma unroll
        for (int i = 0; i < BN / 2; i++)
            sums[i] = 0;
        for (int k = 0; k < g.k; k += BK, at.next()) {
            float parts[AT_ONCE][PART / 2];
            barrier_wait(&s.full[at.stage], at.parity);
            if (BY_BLOCKS)
                scales = factors_at(s, group, at.stage);
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                multiply(s, parts[i], group, at.stage, i, false);
#pragma unroll
            for (int i = 0; i < PARTS; i++) {
                float(&part)[PART / 2] = parts[i % AT_ONCE];
                if (i >= AT_ONCE)
                    multiply(s, part, group, at.stage, i, false);
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
    }
    /* Integers are exact. */
    static __device__ __forceinline__ void consume_promoted(const scaled_arguments &, stages &,
                                                            int (&)[BN / 2], int, turn &)
    {
    }

    /* Results -----------------------------------------------------------------------------------*/

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

    /* Through shared memory to the TMA unit. */
    static __device__ __forceinline__ void store_by_tma(const scaled_arguments &g,
                                                        unsigned char *from, const sum *results,
                                                        place tile, int group)
    {
        bool asks = threadIdx.x % 128 == 0;
        unsigned to = shared_address(from);
        if (asks)
            tma_store_wait_read<LEAVING - 1>(); /* what was here has left */
        sync_consumer(group);
        if (g.stored == STORE_BF16)
            put_16<true>(to, results);
        else if (g.stored == STORE_F16)
            put_16<false>(to, results);
        else
            put_8(to, results);
        tma_fence();
        sync_consumer(group);
        if (asks) {
            store_box(&g.d, tile.column, tile.row + group * 64, tile.matrix, from);
            tma_store_commit();
        }
    }

    /* 64 columns at a time; 128 where they are quantised. */
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
#pragma unroll
        for (int box = 0; box < BN / 64; box++, at.column += 64, tile.column += 64) {
            if (!CAN_QUANTISE || !g.quantises || box % 2 == 0)
                finish(g, sums + 32 * box, scale, columns + box * 64, at);
            if (CAN_QUANTISE && g.quantises && box % 2 == 0) {
                finish(g, sums + 32 * box + 32, scale, columns + box * 64 + 64,
                       place{at.row, at.column + 64, at.matrix});
                quantise(g, sums + 32 * box, at);
            }
            if (!PLAIN && g.stores_directly)
                store_directly(g, sums + 32 * box, at);
            else
                store_by_tma(g, s.out[group][box % LEAVING], sums + 32 * box, tile, group);
        }
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
            for (int i = blockIdx.x / CLUSTER; i < total; i += clusters) {
                sum sums[BN / 2];
                place tile = place_of(g, i);
                column_scales columns = load_columns(g, tile);
                if (KEEPING == KEEP_FAST)
                    consume_fast(g, s, sums, group, at);
                else
                    consume_promoted(g, s, sums, group, at);
                put_columns(g, s, columns, group);
                store(g, s, sums, tile, group);
            }
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
