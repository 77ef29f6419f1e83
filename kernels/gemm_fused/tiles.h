/*
 * tiles.h: the kernel of kernels/gemm/overlapped.cu for any 16-bit type, layout, width of tile and
 * epilogue: a persistent grid of clusters of two blocks, one producer warp and two consumer
 * warpgroups a block. DOWN_A, DOWN_B: the matrix lies with its k in rows, not along them (A by
 * columns, B by rows).
 */
#ifndef LOCKSTEP_KERNELS_GEMM_FUSED_TILES_H
#define LOCKSTEP_KERNELS_GEMM_FUSED_TILES_H

#include "generic.h"

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
    /* The blocks of a cluster share B: each loads some of its boxes, or some lines of each. */
    static const bool WHOLE_BOXES = BN % (64 * CLUSTER) == 0;

    struct stages {
        unsigned char a[STAGES][BM * BK * 2], b[STAGES][BOXES * BOX];
        unsigned char out[CONSUMERS][LEAVING][BOX];
        barrier full[STAGES], empty[STAGES];
    };

    struct place {
        int row, column, matrix;
    };
    static __device__ __forceinline__ int clusters_down(const gemm_arguments &g)
    {
        return (g.m + CLUSTER * BM - 1) / (CLUSTER * BM);
    }
    static __device__ __forceinline__ int tiles_across(const gemm_arguments &g)
    {
        return (g.n + BN - 1) / BN;
    }
    static __device__ __forceinline__ place place_of(const gemm_arguments &g, int number)
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

    static __device__ __forceinline__ void consume(const gemm_arguments &g, stages &s,
                                                   float (&sums)[BN / 2], int group, turn &at)
    {
        for (int k = 0; k < g.k; k += BK, at.next()) {
            unsigned a = shared_address(s.a[at.stage]) + group * BOX;
            unsigned b = shared_address(s.b[at.stage]);
            barrier_wait(&s.full[at.stage], at.parity);
            wgmma_hold(sums);
            wgmma_fence();
#pragma unroll
            for (int i = 0; i < BK / 16; i++)
                numbers::template multiply<DOWN_A, DOWN_B>(
                    sums, wgmma_tile(a + i * (DOWN_A ? 2048 : 32), 1024, DOWN_A ? BOX : 0),
                    wgmma_tile(b + i * (DOWN_B ? 2048 : 32), 1024, DOWN_B ? BOX : 0),
                    k > 0 || i > 0);
            wgmma_commit();
            wgmma_hold(sums);
            wgmma_wait<1>(); /* the products of the stage before this one are done */
            if (k > 0)
                leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
        }
        wgmma_wait<0>();
        wgmma_hold(sums);
        leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
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
                sums[i] = relu(sums[i]);
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
                                                      const biases &b, pieces c)
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
        activate_all(g.activation, sums);
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

    /* 64 columns at a time through shared memory to the TMA unit. */
    static __device__ __forceinline__ void store(const gemm_arguments &g, stages &s,
                                                 const float (&sums)[BN / 2], place tile, int group)
    {
        bool asks = threadIdx.x % 128 == 0;
#pragma unroll
        for (int box = 0; box < BOXES; box++) {
            unsigned char *from = s.out[group][box % LEAVING];
            if (asks)
                tma_store_wait_read<LEAVING - 1>(); /* what was here has left */
            sync_consumer(group);
#pragma unroll
            for (int i = 0; i < 4 && box * 64 + i * 16 < BN; i++) {
                unsigned p[4];
#pragma unroll
                for (int j = 0; j < 4; j++)
                    p[j] = numbers::pack(sums[32 * box + 8 * i + 2 * j],
                                         sums[32 * box + 8 * i + 2 * j + 1]);
                asm volatile(
                    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                        place_in(from, i)),
                    "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3])
                    : "memory");
            }
            tma_fence();
            sync_consumer(group);
            if (asks) {
                store_box(box * 64 + 64 > BN ? &g.d_rest : &g.d, tile.column + box * 64,
                          tile.row + group * 64, tile.matrix, from);
                tma_store_commit();
            }
        }
    }

    static __device__ __forceinline__ void run(const gemm_arguments &g)
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
                barrier_make(&s.full[i], 1);
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
            }
        } else {
            registers_raise_to<232>();
            if (!PLAIN)
                cudaGridDependencySynchronize(); /* so may C and the bias be */
            for (int i = blockIdx.x / CLUSTER; i < total; i += clusters) {
                float sums[BN / 2];
                place tile = place_of(g, i);
                biases b;
                pieces c;
                if (!PLAIN) { /* they are there when the sums are */
                    b = load_biases(g, tile, group);
                    if (g.c_pieces)
                        c = load_c(g, tile, group, 0);
                }
                consume(g, s, sums, group, at);
                if (!PLAIN)
                    finish_all(g, sums, tile, group, b, c);
                if (!PLAIN && g.stores_directly)
                    store_directly(g, sums, tile, group);
                else
                    store(g, s, sums, tile, group);
            }
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
