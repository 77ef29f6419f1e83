/*
 * tiles.h: the kernel of kernels/gemm/overlapped.cu for any 16-bit type, layout, width of tile and
 * epilogue: a persistent grid of clusters of two blocks, one producer warp and two consumer
 * warpgroups a block. DOWN_A, DOWN_B: the matrix lies with its k in rows, not along them (A by
 * columns, B by rows).
 */
#ifndef LOCKSTEP_KERNELS_GEMM_FUSED_TILES_H
#define LOCKSTEP_KERNELS_GEMM_FUSED_TILES_H

#include "tile_epilogue.h"

enum {
    BM = 128,
    BK = 64, /* a line of the swizzle: 128 bytes */
    CONSUMERS = 2,
    THREADS = 128 * (1 + CONSUMERS),
    BOX = 64 * 128, /* bytes of 64 lines of the swizzle */
    LEAVING = 2     /* boxes of a consumer that are on their way out */
};

template <class numbers, bool DOWN_A, bool DOWN_B, int BN, int STAGES, int CLUSTER, bool PLAIN>
struct tiles {
    typedef typename numbers::stored stored;
    static const int BOXES = (BN + 63) / 64;
    /* Products of a stage; the columns of a tile's left half. */
    static const int STEPS = BK / 16, LEFT = BN > 128 ? 128 : 64, RIGHT = BN - LEFT;
    static const int EDGE = 2; /* stages at the end of a tile that are multiplied in halves */
    static const bool HALVES = PLAIN && BN == 256;
    /* The blocks of a cluster share B: each loads some of its boxes, or some lines of each. */
    static const bool WHOLE_BOXES = BN % (64 * CLUSTER) == 0;

    struct stages {
        unsigned char a[STAGES][BM * BK * 2], b[STAGES][BOXES * BOX];
        unsigned char out[CONSUMERS][LEAVING][BOX];
        barrier full[STAGES], empty[STAGES];
    };

    typedef tile_place place;
    typedef tile_epilogue<numbers, BN> epilogue;
    typedef tile_order<BM, BN, CLUSTER> order;
    typedef ring_turn<STAGES> turn;

    static __device__ __forceinline__ void load_a(const gemm_arguments &g, unsigned char *to,
                                                  place tile, int k, barrier *full)
    {
        int matrix = g.a_stays ? 0 : tile.matrix;
        if (DOWN_A) {
            for (int i = 0; i < BM / 64; i++)
                load_box(to + i * BOX, &g.a, tile.row + i * 64, k, matrix, full);
        } else {
            load_box(to, &g.a, k, tile.row, matrix, full);
        }
    }

    /* To the same place of all blocks of the cluster. */
    static __device__ __forceinline__ void share(unsigned char *to, const tensor_map *map, int x,
                                                 int y, int z, barrier *full)
    {
        if (CLUSTER > 1)
            load_box_for((1 << CLUSTER) - 1, to, map, x, y, z, full);
        else
            load_box(to, map, x, y, z, full);
    }

    static __device__ __forceinline__ void load_b(const gemm_arguments &g, unsigned char *to,
                                                  place tile, int k, barrier *full)
    {
        int matrix = g.b_stays ? 0 : tile.matrix, rank = CLUSTER > 1 ? (int)cluster_rank() : 0;
        if (DOWN_B) {
#pragma unroll
            for (int i = 0; i < BOXES; i++) {
                int column = tile.column + i * 64;
                const tensor_map *map = i * 64 + 64 > BN ? &g.b_rest : &g.b;
                if (!WHOLE_BOXES)
                    share(to + i * BOX + rank * (BOX / CLUSTER), map, column,
                          k + rank * (BK / CLUSTER), matrix, full);
                else if (i / (BOXES / CLUSTER) == rank)
                    share(to + i * BOX, map, column, k, matrix, full);
            }
        } else {
            int lines = BN / CLUSTER;
            share(to + rank * lines * 128, &g.b, k, tile.column + rank * lines, matrix, full);
        }
    }

    /* Some rows of C's tile into the L2, with each step of k: the memory is not idle meanwhile. */
    static __device__ __forceinline__ void fetch_c(const gemm_arguments &g, place tile, int k)
    {
        int steps = (g.k + BK - 1) / BK, rows = (BM + steps - 1) / steps;
        int row = tile.row + k / BK * rows, columns = g.n - tile.column;
        int end = smaller(smaller(row + rows, tile.row + BM), g.m);
        const unsigned short *c =
            (const unsigned short *)g.c + tile.matrix * g.c_stride + row * g.c_row + tile.column;
        for (; row < end; row++, c += g.c_row)
            fetch_line(c, (columns < BN ? columns : BN) * 2);
    }

    static __device__ __forceinline__ void produce(const gemm_arguments &g, stages &s, turn &at,
                                                   place tile)
    {
        for (int k = 0; k < g.k; k += BK, at.next()) {
            barrier *full = &s.full[at.stage];
            barrier_wait(&s.empty[at.stage], at.parity ^ 1);
            barrier_arrive_expecting(full, (BM + BN) * BK * 2);
            load_a(g, s.a[at.stage], tile, k, full);
            load_b(g, s.b[at.stage], tile, k, full);
            if (!PLAIN && g.c_pieces)
                fetch_c(g, tile, k);
        }
    }

    static __device__ __forceinline__ void leave(barrier *empty)
    {
        if (threadIdx.x % 128 < CLUSTER)
            barrier_arrive_in(empty, threadIdx.x % 128);
    }

    /* The product number i of a stage, for the columns from FIRST on that `sums` are of. */
    template <int FIRST, int count>
    static __device__ __forceinline__ void multiply(stages &s, float (&sums)[count], int group,
                                                    int stage, int i, bool add)
    {
        unsigned a = shared_address(s.a[stage]) + group * BOX;
        unsigned b = shared_address(s.b[stage]) + FIRST * 128;
        numbers::template multiply<DOWN_A, DOWN_B>(
            sums, wgmma_tile(a + i * (DOWN_A ? 2048 : 32), 1024, DOWN_A ? BOX : 0),
            wgmma_tile(b + i * (DOWN_B ? 2048 : 32), 1024, DOWN_B ? BOX : 0), add);
    }
    /* All of them, not waited for. */
    template <int FIRST, int count>
    static __device__ __forceinline__ void multiply_stage(stages &s, float (&sums)[count],
                                                          int group, int stage, bool add)
    {
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < STEPS; i++)
            multiply<FIRST>(s, sums, group, stage, i, add || i > 0);
        wgmma_commit();
        wgmma_hold(sums);
    }

    /* The stages of a tile from k = `from` on. */
    static __device__ __forceinline__ void consume(stages &s, float (&sums)[BN / 2], int group,
                                                   turn &at, int from, int end)
    {
        for (int k = from; k < end; k += BK, at.next()) {
            barrier_wait(&s.full[at.stage], at.parity);
            multiply_stage<0>(s, sums, group, at.stage, k > 0);
            wgmma_wait<1>(); /* the products of the stage before this one are done */
            if (k > 0)
                leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
        }
        wgmma_wait<0>();
        wgmma_hold(sums);
        leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
    }

    /* Until the place of a tile's box `number` is free again. Boxes take turns at LEAVING places,
     * and of an odd number of them the last has the place where the next tile's first goes. */
    static __device__ __forceinline__ void wait_for_place(int number)
    {
        if (number == 0 && BOXES % LEAVING != 0)
            tma_store_wait_read<0>();
        else
            tma_store_wait_read<LEAVING - 1>();
    }

    static __device__ __forceinline__ void sync_consumer(int group)
    {
        asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    }

    /* Where lanes leave 16 columns of the warp's 16 lines, four matrices of 8 x 8. */
    static __device__ __forceinline__ unsigned place_in(const unsigned char *box, int columns)
    {
        unsigned lane = threadIdx.x % 32, line = threadIdx.x % 128 / 32 * 16 + lane % 16;
        return shared_address(box) + line * 128 + ((columns * 2 + lane / 16 ^ line % 8) << 4);
    }
    /* 64 columns through shared memory to the TMA unit; two numbers are one word of `packed`. */
    template <int NUMBER>
    static __device__ __forceinline__ void
    store_packed(const gemm_arguments &g, stages &s, const unsigned *packed, place tile, int group)
    {
        bool asks = threadIdx.x % 128 == 0;
        unsigned char *from = s.out[group][NUMBER % LEAVING];
        if (asks)
            wait_for_place(NUMBER);
        sync_consumer(group);
#pragma unroll
        for (int i = 0; i < 4 && NUMBER * 64 + i * 16 < BN; i++) {
            const unsigned *p = packed + 4 * i;
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                             place_in(from, i)),
                         "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3])
                         : "memory");
        }
        tma_fence();
        sync_consumer(group);
        if (asks) {
            store_box(NUMBER * 64 + 64 > BN ? &g.d_rest : &g.d, tile.column + NUMBER * 64,
                      tile.row + group * 64, tile.matrix, from);
            tma_store_commit();
        }
    }
    /* From box NUMBER on. */
    template <int NUMBER, int count>
    static __device__ __forceinline__ void store(const gemm_arguments &g, stages &s,
                                                 const float (&sums)[count], place tile, int group)
    {
#pragma unroll
        for (int box = 0; box < (count + 31) / 32; box++) {
            unsigned packed[16];
#pragma unroll
            for (int i = 0; i < 16 && 32 * box + 2 * i < count; i++)
                packed[i] = numbers::pack(sums[32 * box + 2 * i], sums[32 * box + 2 * i + 1]);
            if (box == 0)
                store_packed<NUMBER>(g, s, packed, tile, group);
            else if (box == 1)
                store_packed<NUMBER + 1>(g, s, packed, tile, group);
            else if (box == 2)
                store_packed<NUMBER + 2>(g, s, packed, tile, group);
            else
                store_packed<NUMBER + 3>(g, s, packed, tile, group);
        }
    }

    /* Tiles one after the other -----------------------------------------------------------------*/

    /* What a tile needs beside its sums. */
    struct extras {
        typename epilogue::biases bias;
        typename epilogue::pieces c;
    };
    static __device__ __forceinline__ extras load_extras(const gemm_arguments &g, place tile,
                                                         int group)
    {
        extras e;
        if (!PLAIN) { /* they are there when the sums are */
            e.bias = epilogue::load_biases(g, tile, group);
            if (g.c_pieces)
                e.c = epilogue::load_c(g, tile, group, 0);
        }
        return e;
    }

    /* Nothing is multiplied while a tile leaves. */
    static __device__ __forceinline__ void consume_plainly(const gemm_arguments &g, stages &s,
                                                           int group, int number, int total,
                                                           int clusters)
    {
        turn at = {0, 0};
        for (; number < total; number += clusters) {
            float sums[BN / 2];
            place tile = order::place_of(g, number);
            extras e = load_extras(g, tile, group);
            consume(s, sums, group, at, 0, g.k);
            if (!PLAIN)
                epilogue::finish_all(g, sums, tile, group, e.bias, e.c, g.activation);
            if (!PLAIN && g.stores_directly)
                epilogue::store_directly(g, sums, tile, group);
            else
                store<0>(g, s, sums, tile, group);
        }
    }

    /* The first stages of a tile; beside the products of each, a box of the tile before leaves. */
    template <int NUMBER, bool LEAVES>
    static __device__ __forceinline__ void
    begin(const gemm_arguments &g, stages &s, float (&sums)[BN / 2],
          const unsigned (&packed)[BN / 4], place before, int group, turn &at)
    {
        if constexpr (NUMBER < BOXES) {
            barrier_wait(&s.full[at.stage], at.parity);
            multiply_stage<0>(s, sums, group, at.stage, NUMBER > 0);
            if (LEAVES)
                store_packed<NUMBER>(g, s, packed + 16 * NUMBER, before, group);
            wgmma_wait<1>();
            if (NUMBER > 0)
                leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
            at.next();
            begin<NUMBER + 1, LEAVES>(g, s, sums, packed, before, group, at);
        }
    }
    template <int NUMBER>
    static __device__ __forceinline__ void store_boxes(const gemm_arguments &g, stages &s,
                                                       const unsigned (&packed)[BN / 4], place tile,
                                                       int group)
    {
        if constexpr (NUMBER < BOXES) {
            store_packed<NUMBER>(g, s, packed + 16 * NUMBER, tile, group);
            store_boxes<NUMBER + 1>(g, s, packed, tile, group);
        }
    }
    /* The sums of a finished tile wait in half as many registers, as what is stored of them, until
     * the tensor cores are busy again. */
    static __device__ __forceinline__ void consume_packing(const gemm_arguments &g, stages &s,
                                                           int group, int number, int total,
                                                           int clusters)
    {
        turn at = {0, 0};
        unsigned packed[BN / 4];
        place before;
        for (bool first = true; number < total; number += clusters, first = false) {
            float sums[BN / 2];
            place tile = order::place_of(g, number);
            extras e = load_extras(g, tile, group);
            if (first)
                begin<0, false>(g, s, sums, packed, before, group, at);
            else
                begin<0, true>(g, s, sums, packed, before, group, at);
            consume(s, sums, group, at, BOXES * BK, g.k);
            bool relu = !PLAIN && g.activation == GEMM_RELU;
            if (!PLAIN)
                epilogue::finish_all(g, sums, tile, group, e.bias, e.c,
                                     relu ? GEMM_NONE : g.activation);
            if (relu) {
#pragma unroll
                for (int i = 0; i < BN / 4; i++)
                    packed[i] = numbers::pack_relu(sums[2 * i], sums[2 * i + 1]);
            } else {
#pragma unroll
                for (int i = 0; i < BN / 4; i++)
                    packed[i] = numbers::pack(sums[2 * i], sums[2 * i + 1]);
            }
            before = tile;
        }
        store_boxes<0>(g, s, packed, before, group);
    }

    /* All stages up to k = `end`, with products for either half. */
    static __device__ __forceinline__ void consume_in_halves(stages &s, float (&left)[LEFT / 2],
                                                             float (&right)[RIGHT / 2], int group,
                                                             turn &at, int end)
    {
        for (int k = 0; k < end; k += BK, at.next()) {
            barrier_wait(&s.full[at.stage], at.parity);
            wgmma_hold(left);
            wgmma_hold(right);
            wgmma_fence();
#pragma unroll
            for (int i = 0; i < STEPS; i++) {
                multiply<0>(s, left, group, at.stage, i, k > 0 || i > 0);
                multiply<LEFT>(s, right, group, at.stage, i, k > 0 || i > 0);
            }
            wgmma_commit();
            wgmma_hold(left);
            wgmma_hold(right);
            wgmma_wait<1>();
            if (k > 0)
                leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
        }
        wgmma_wait<0>();
        leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
    }

    /* The only tile of a block: in its last stages the left columns' products come first, and leave
     * beside the right ones'. */
    static __device__ __forceinline__ void consume_halves(const gemm_arguments &g, stages &s,
                                                          int group, int number)
    {
        turn at = {0, 0};
        float left[LEFT / 2], right[RIGHT / 2];
        place tile = order::place_of(g, number);
        consume_in_halves(s, left, right, group, at, g.k - EDGE * BK);
        turn edge = at;
#pragma unroll
        for (int i = 0; i < EDGE; i++, at.next()) {
            barrier_wait(&s.full[at.stage], at.parity);
            multiply_stage<0>(s, left, group, at.stage, true);
        }
#pragma unroll
        for (int i = 0; i < EDGE; i++, edge.next())
            multiply_stage<LEFT>(s, right, group, edge.stage, true);
        wgmma_wait<EDGE>();
        wgmma_hold(left);
        store<0>(g, s, left, tile, group);
        wgmma_wait<0>();
        wgmma_hold(right);
        store<LEFT / 64>(g, s, right, tile, group);
    }

    static __device__ __forceinline__ void
    consume_all(const gemm_arguments &g, stages &s, int group, int number, int total, int clusters)
    {
        if (number >= total)
            return;
        bool one = number + clusters >= total, by_tma = PLAIN || !g.stores_directly;
        if (one && HALVES && g.k > EDGE * BK) {
            if constexpr (HALVES)
                consume_halves(g, s, group, number);
        } else if (!one && by_tma && g.k > (BOXES - 1) * BK) {
            consume_packing(g, s, group, number, total, clusters);
        } else {
            consume_plainly(g, s, group, number, total, clusters);
        }
    }

    static __device__ __forceinline__ void run(const gemm_arguments &g)
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
                barrier_make(&s.full[i], 1);
                barrier_make(&s.empty[i], CLUSTER * CONSUMERS);
            }
            barrier_made();
        }
        cluster_sync(); /* the other blocks' barriers are made, too */
        cudaTriggerProgrammaticLaunchCompletion();
        if (group == CONSUMERS) {
            registers_lower_to<40>();
            if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one()) {
                turn at = {0, 0};
                cudaGridDependencySynchronize(); /* A and B may be the work of the kernel before */
                for (int i = blockIdx.x / CLUSTER; i < total; i += clusters)
                    produce(g, s, at, order::place_of(g, i));
            }
        } else {
            registers_raise_to<232>();
            if (!PLAIN)
                cudaGridDependencySynchronize(); /* so may C and the bias be */
            consume_all(g, s, group, blockIdx.x / CLUSTER, total, clusters);
            if (threadIdx.x % 128 == 0)
                tma_store_wait_read<0>();
        }
        cluster_sync(); /* a block's shared memory stays until the others no longer copy into it */
    }
};

#define TILES(numbers, down_a, down_b, bn, stages, cluster)                                        \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        tiles_##bn(const __grid_constant__ gemm_arguments g)                                       \
    {                                                                                              \
        tiles<numbers, down_a, down_b, bn, stages, cluster, false>::run(g);                        \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        tiles_##bn##_plain(const __grid_constant__ gemm_arguments g)                               \
    {                                                                                              \
        tiles<numbers, down_a, down_b, bn, stages, cluster, true>::run(g);                         \
    }
/* The widths that kernels/gemm_fused/host/plan.c chooses from, with their stages and clusters;
 * fewer where A lies by columns. */
#define SOME_TILES(numbers, down_a, down_b)                                                        \
    TILES(numbers, down_a, down_b, 256, 4, 2)                                                      \
    TILES(numbers, down_a, down_b, 128, 6, 2)
#define ALL_TILES(numbers, down_a, down_b)                                                         \
    SOME_TILES(numbers, down_a, down_b)                                                            \
    TILES(numbers, down_a, down_b, 224, 4, 2)                                                      \
    TILES(numbers, down_a, down_b, 192, 4, 2)                                                      \
    TILES(numbers, down_a, down_b, 64, 8, 1)

#endif
