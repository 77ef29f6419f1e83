/*
 * tiles.h: the kernel of kernels/gemm/overlapped.cu for any 16-bit type, layout, width of tile and
 * epilogue: a persistent grid of clusters of two blocks, one producer warp and two consumer
 * warpgroups a block. DOWN_A, DOWN_B: the matrix lies with its k in rows, not along them (A by
 * columns, B by rows).
 */
#ifndef LOCKSTEP_KERNELS_GEMM_FUSED_TILES_H
#define LOCKSTEP_KERNELS_GEMM_FUSED_TILES_H

#include "generic.h"

#ifndef TILES_PACKED
#define TILES_PACKED 0
#endif
#ifndef TILES_EDGE
#define TILES_EDGE 3
#endif
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
    /* Columns that leave together, and those of a tile's left half. */
    static const int UNIT = 32, LEFT = BN > 128 ? 128 : 64, RIGHT = BN - LEFT;
    static const int STEPS = BK / 16; /* products of a stage */
    /* The stages at either end of a tile that are multiplied in halves. */
    static const int EDGE = RIGHT > 0 && (BN != 224 || TILES_PACKED) ? TILES_EDGE : 0;
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

    /* The product number i of a stage, for some of the columns. */
    template <int FIRST, int COLUMNS>
    static __device__ __forceinline__ void multiply(stages &s, float (&sums)[BN / 2], int group,
                                                    int stage, int i, bool add)
    {
        unsigned a = shared_address(s.a[stage]) + group * BOX;
        unsigned b = shared_address(s.b[stage]) + FIRST * 128;
        float(&some)[COLUMNS / 2] = *(float(*)[COLUMNS / 2])(sums + FIRST / 2);
        numbers::template multiply<DOWN_A, DOWN_B>(
            some, wgmma_tile(a + i * (DOWN_A ? 2048 : 32), 1024, DOWN_A ? BOX : 0),
            wgmma_tile(b + i * (DOWN_B ? 2048 : 32), 1024, DOWN_B ? BOX : 0), add);
    }
    template <int FIRST, int COLUMNS>
    static __device__ __forceinline__ void hold(float (&sums)[BN / 2])
    {
        wgmma_hold(*(float(*)[COLUMNS / 2])(sums + FIRST / 2));
    }
    /* All of them. */
    template <int FIRST, int COLUMNS>
    static __device__ __forceinline__ void multiply_stage(stages &s, float (&sums)[BN / 2],
                                                          int group, int stage, bool add)
    {
#pragma unroll
        for (int i = 0; i < STEPS; i++)
            multiply<FIRST, COLUMNS>(s, sums, group, stage, i, add || i > 0);
        wgmma_commit();
    }

    /* So many stages, for all columns, to the end. */
    template <bool HALVES>
    static __device__ __forceinline__ void consume(stages &s, float (&sums)[BN / 2], int group,
                                                   turn &at, int count, bool add)
    {
        for (int i = 0; i < count; i++, at.next()) {
            barrier_wait(&s.full[at.stage], at.parity);
            wgmma_hold(sums);
            wgmma_fence();
            if (HALVES) {
#pragma unroll
                for (int j = 0; j < STEPS; j++) {
                    multiply<0, LEFT>(s, sums, group, at.stage, j, add || i > 0 || j > 0);
                    multiply<LEFT, RIGHT>(s, sums, group, at.stage, j, add || i > 0 || j > 0);
                }
                wgmma_commit();
            } else {
                multiply_stage<0, BN>(s, sums, group, at.stage, add || i > 0);
            }
            wgmma_hold(sums);
            wgmma_wait<1>(); /* the products of the stage before this one are done */
            if (i > 0)
                leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
        }
        wgmma_wait<0>();
        wgmma_hold(sums);
        if (count > 0)
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
    template <int FIRST>
    static __device__ __forceinline__ void scale_and_add(const gemm_arguments &g,
                                                         float (&sums)[BN / 2], const biases &b)
    {
        const int end = FIRST / 2 + UNIT / 2;
        if (!g.bias || g.bias_down) {
#pragma unroll
            for (int i = FIRST / 2; i < end; i++)
                sums[i] = fmaf(sums[i], g.alpha, b.row[i % 4 / 2]);
            return;
        }
#pragma unroll
        for (int i = FIRST / 2; i < end; i += 4) {
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
    template <int FIRST>
    static __device__ __forceinline__ void add_c(float beta, float (&sums)[BN / 2], const pieces &c)
    {
#pragma unroll
        for (int h = 0; h < 2; h++) { /* the row, and eight below */
            uint4 four = exchange_in_fours(c.at[FIRST % 64 / UNIT * 2 + h]);
            unsigned words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int j = 0; j < 8; j++) {
                float &to = sums[FIRST / 2 + j / 2 * 4 + h * 2 + j % 2];
                to = fmaf(beta, numbers::wide((stored)(words[j / 2] >> j % 2 * 16)), to);
            }
        }
    }

    /* The same, number by number, where C lies as it likes. */
    template <int FIRST>
    static __device__ __forceinline__ void
    add_c_slowly(const gemm_arguments &g, float (&sums)[BN / 2], place tile, int group)
    {
        int row = row_of(tile, group), column = column_of(tile), last = g.n - 1 - column;
        const stored *c = (const stored *)g.c + tile.matrix * g.c_stride + column;
        const stored *rows[2] = {c + smaller(row, g.m - 1) * g.c_row,
                                 c + smaller(row + 8, g.m - 1) * g.c_row};
#pragma unroll
        for (int i = FIRST / 2; i < FIRST / 2 + UNIT / 2; i++)
            if (i / 4 * 8 + i % 2 <= last)
                sums[i] += g.beta * numbers::wide(rows[i % 4 / 2][i / 4 * 8 + i % 2]);
    }

    template <int FIRST>
    static __device__ __forceinline__ void activate(int activation, float (&sums)[BN / 2])
    {
        const int end = FIRST / 2 + UNIT / 2;
        if (activation == GEMM_RELU) {
#pragma unroll
            for (int i = FIRST / 2; i < end; i++)
                sums[i] = relu(sums[i]);
        } else if (activation == GEMM_GELU) {
#pragma unroll
            for (int i = FIRST / 2; i < end; i += 2)
                gelu_pair(sums[i], sums[i + 1]);
        } else if (activation == GEMM_SILU) {
#pragma unroll
            for (int i = FIRST / 2; i < end; i += 2)
                silu_pair(sums[i], sums[i + 1]);
        }
    }

    /* What a tile needs beside its sums; C's numbers of two boxes, even and odd ones. */
    struct extras {
        place tile;
        biases bias;
        pieces c[2];
    };
    static __device__ __forceinline__ void load_c_of(const gemm_arguments &g, extras &e, int group,
                                                     int box)
    {
        if (!PLAIN && g.c_pieces && box < BOXES)
            e.c[box % 2] = load_c(g, e.tile, group, box);
    }

    /* What is stored for a unit of columns. */
    template <int FIRST, bool SMOOTH>
    static __device__ __forceinline__ void finish(const gemm_arguments &g, float (&sums)[BN / 2],
                                                  extras &e, int group)
    {
        if (PLAIN)
            return;
        scale_and_add<FIRST>(g, sums, e.bias);
        if (g.c_pieces)
            add_c<FIRST>(g.beta, sums, e.c[FIRST / 64 % 2]);
        else if (!SMOOTH && g.c)
            add_c_slowly<FIRST>(g, sums, e.tile, group);
        if (FIRST % 64 + UNIT == 64)
            load_c_of(g, e, group, FIRST / 64 + 2);
        activate<FIRST>(g.activation, sums);
    }

    /* Gates make one number of two neighbours, which a thread has. Two of those are stored at once:
     * of two pairs of columns, even threads take the first and odd threads the second. */
    template <int FIRST>
    static __device__ __forceinline__ void
    store_gates(const gemm_arguments &g, const float (&sums)[BN / 2], place tile, int group)
    {
        bool odd = threadIdx.x % 2;
        int row = row_of(tile, group);
        int column = tile.column / 2 + threadIdx.x % 4 + (odd ? 3 : 0);
        stored *out = (stored *)g.out + tile.matrix * g.out_stride + column;
#pragma unroll
        for (int i = FIRST / 2; i < FIRST / 2 + UNIT / 2; i += 8)
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

    template <int FIRST>
    static __device__ __forceinline__ void
    store_directly(const gemm_arguments &g, const float (&sums)[BN / 2], place tile, int group)
    {
        if (g.activation == GEMM_GATE && g.out_pairs) {
            store_gates<FIRST>(g, sums, tile, group);
            return;
        }
#pragma unroll
        for (int i = FIRST / 2; i < FIRST / 2 + UNIT / 2; i += 2)
            store_pair<numbers>(g, float2{sums[i], sums[i + 1]},
                                row_of(tile, group) + i % 4 / 2 * 8, column_of(tile) + i / 4 * 8,
                                tile.matrix);
    }

    /* Through shared memory to the TMA unit, which takes 64 columns at a time. */
    template <int FIRST>
    static __device__ __forceinline__ void store(const gemm_arguments &g, stages &s,
                                                 const float (&sums)[BN / 2], place tile, int group)
    {
        const int box = FIRST / 64;
        bool asks = threadIdx.x % 128 == 0;
        unsigned char *from = s.out[group][box % LEAVING];
        if (FIRST % 64 == 0) {
            if (asks)
                tma_store_wait_read<LEAVING - 1>(); /* what was here has left */
            sync_consumer(group);
        }
#pragma unroll
        for (int i = 0; i < UNIT / 16; i++) {
            unsigned p[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                p[j] = numbers::pack(sums[FIRST / 2 + 8 * i + 2 * j],
                                     sums[FIRST / 2 + 8 * i + 2 * j + 1]);
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                             place_in(from, FIRST % 64 / 16 + i)),
                         "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3])
                         : "memory");
        }
        if (FIRST % 64 + UNIT == 64 || FIRST + UNIT == BN) {
            tma_fence();
            sync_consumer(group);
            if (asks) {
                store_box(box * 64 + 64 > BN ? &g.d_rest : &g.d, tile.column + box * 64,
                          tile.row + group * 64, tile.matrix, from);
                tma_store_commit();
            }
        }
    }

    /* Products that run beside an epilogue: those of the stages after `at`, for some columns. */
    template <int BEGIN, int COLUMNS> struct beside {
        turn at;
        bool any, add, waits, leaves;
        /* From number `from` up to number `to` of all their products. */
        __device__ __forceinline__ void issue(stages &s, float (&sums)[BN / 2], int group, int from,
                                              int to)
        {
#pragma unroll
            for (int i = from; i < to; i++) {
                if (i % STEPS == 0) {
                    at.next();
                    if (waits)
                        barrier_wait(&s.full[at.stage], at.parity);
                }
                if (i % STEPS == 0 || i == from)
                    wgmma_fence();
                multiply<BEGIN, COLUMNS>(s, sums, group, at.stage, i % STEPS, true);
                if (i % STEPS == STEPS - 1) {
                    wgmma_commit();
                    if (leaves) {
                        wgmma_wait<1>();
                        leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
                    }
                }
            }
        }
    };

    /* Units of columns from FIRST to END leave, with some products after each. */
    template <int FIRST, int END, int DONE, int TODO, bool SMOOTH, class products>
    static __device__ __forceinline__ void
    store_units(const gemm_arguments &g, stages &s, float (&sums)[BN / 2], extras &e, int group,
                products &more)
    {
        if constexpr (FIRST < END) {
            const int units = (END - FIRST) / UNIT, next = DONE + (TODO - DONE + units - 1) / units;
            finish<FIRST, SMOOTH>(g, sums, e, group);
            if (!PLAIN && !SMOOTH && g.stores_directly)
                store_directly<FIRST>(g, sums, e.tile, group);
            else
                store<FIRST>(g, s, sums, e.tile, group);
            if (DONE < TODO)
                more.issue(s, sums, group, DONE, next);
            store_units<FIRST + UNIT, END, next, TODO, SMOOTH>(g, s, sums, e, group, more);
        }
    }

    static __device__ __forceinline__ void begin(const gemm_arguments &g, extras &e, int group,
                                                 int number)
    {
        e.tile = place_of(g, number);
        if (!PLAIN)
            e.bias = load_biases(g, e.tile, group);
    }

    /* Tile after tile; what leaves holds up the products. */
    static __device__ __forceinline__ void consume_tiles(const gemm_arguments &g, stages &s,
                                                         int group, int number, int total,
                                                         int clusters)
    {
        turn at = {0, 0};
        beside<0, BN> none = {at, false, false, false, false};
        for (; number < total; number += clusters) {
            float sums[BN / 2];
            extras e;
            begin(g, e, group, number);
            load_c_of(g, e, group, 0);
            load_c_of(g, e, group, 1);
            consume<false>(s, sums, group, at, (g.k + BK - 1) / BK, false);
            store_units<0, BN, 0, 0, false>(g, s, sums, e, group, none);
        }
    }

    /* In the last stages of a tile the left columns' products come first, and they leave beside the
     * right ones'; those leave beside the left ones' products of the next tile's first stages. */
    static __device__ __forceinline__ void consume_halves(const gemm_arguments &g, stages &s,
                                                          int group, int number, int total,
                                                          int clusters)
    {
        turn at = {0, 0};
        float sums[BN / 2];
        extras e;
        const int PRODUCTS = (EDGE - 1) * STEPS;
        for (int begun = 0;; begun = EDGE) {
            begin(g, e, group, number);
            consume<true>(s, sums, group, at, (g.k + BK - 1) / BK - EDGE - begun, begun > 0);
            load_c_of(g, e, group, 0);
            load_c_of(g, e, group, 1);
            beside<LEFT, RIGHT> right = {at, true, true, false, true};
            wgmma_fence();
#pragma unroll
            for (int i = 0; i < EDGE; i++, at.next()) {
                barrier_wait(&s.full[at.stage], at.parity);
                wgmma_fence();
                multiply_stage<0, LEFT>(s, sums, group, at.stage, true);
            }
            multiply_stage<LEFT, RIGHT>(s, sums, group, right.at.stage, true);
            wgmma_wait<1>();
            hold<0, LEFT>(sums);
            store_units<0, LEFT, 0, PRODUCTS, true>(g, s, sums, e, group, right);
            number += clusters;
            if (number >= total)
                break;
            wgmma_wait<0>();
            hold<LEFT, RIGHT>(sums);
            leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
            beside<0, LEFT> left = {at, true, true, true, false};
            barrier_wait(&s.full[at.stage], at.parity);
            wgmma_fence();
            multiply_stage<0, LEFT>(s, sums, group, at.stage, false);
            store_units<LEFT, BN, 0, PRODUCTS, true>(g, s, sums, e, group, left);
            turn first = at;
            wgmma_fence();
#pragma unroll
            for (int i = 0; i < EDGE; i++, at.next())
                multiply_stage<LEFT, RIGHT>(s, sums, group, at.stage, i > 0);
            leave_stages<EDGE>(s, first);
        }
        wgmma_wait<0>();
        hold<LEFT, RIGHT>(sums);
        beside<0, LEFT> none = {at, false, false, false, false};
        store_units<LEFT, BN, 0, 0, true>(g, s, sums, e, group, none);
    }
    /* Packed, sums leave beside the products of the next tile's first stages. */
    template <int BOX_AT>
    static __device__ __forceinline__ void store_packed(const gemm_arguments &g, stages &s,
                                                        const unsigned (&packed)[BN / 4],
                                                        place tile, int group)
    {
        bool asks = threadIdx.x % 128 == 0;
        unsigned char *from = s.out[group][BOX_AT % LEAVING];
        if (asks)
            tma_store_wait_read<LEAVING - 1>(); /* what was here has left */
        sync_consumer(group);
#pragma unroll
        for (int i = 0; i < 4 && BOX_AT * 64 + i * 16 < BN; i++) {
            const unsigned *p = packed + BOX_AT * 16 + i * 4;
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                             place_in(from, i)),
                         "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3])
                         : "memory");
        }
        tma_fence();
        sync_consumer(group);
        if (asks) {
            store_box(BOX_AT * 64 + 64 > BN ? &g.d_rest : &g.d, tile.column + BOX_AT * 64,
                      tile.row + group * 64, tile.matrix, from);
            tma_store_commit();
        }
    }
    template <int I, bool STORES>
    static __device__ __forceinline__ void
    first_stages(const gemm_arguments &g, stages &s, float (&sums)[BN / 2],
                 const unsigned (&packed)[BN / 4], place tile, int group, turn &at)
    {
        if constexpr (I < BOXES) {
            barrier_wait(&s.full[at.stage], at.parity);
            wgmma_hold(sums);
            wgmma_fence();
            multiply_stage<0, BN>(s, sums, group, at.stage, I > 0);
            wgmma_hold(sums);
            if (STORES)
                store_packed<I>(g, s, packed, tile, group);
            wgmma_wait<1>();
            if (I > 0)
                leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
            at.next();
            first_stages<I + 1, STORES>(g, s, sums, packed, tile, group, at);
        }
    }
    template <int FIRST>
    static __device__ __forceinline__ void finish_units(const gemm_arguments &g,
                                                        float (&sums)[BN / 2], extras &e, int group)
    {
        if constexpr (FIRST < BN) {
            finish<FIRST, true>(g, sums, e, group);
            finish_units<FIRST + UNIT>(g, sums, e, group);
        }
    }
    template <int I>
    static __device__ __forceinline__ void store_all_packed(const gemm_arguments &g, stages &s,
                                                            const unsigned (&packed)[BN / 4],
                                                            place tile, int group)
    {
        if constexpr (I < BOXES) {
            store_packed<I>(g, s, packed, tile, group);
            store_all_packed<I + 1>(g, s, packed, tile, group);
        }
    }
    static __device__ __forceinline__ void consume_packed(const gemm_arguments &g, stages &s,
                                                          int group, int number, int total,
                                                          int clusters)
    {
        turn at = {0, 0};
        unsigned packed[BN / 4];
        extras e;
        place before;
        for (bool first = true; number < total; number += clusters, first = false) {
            float sums[BN / 2];
            begin(g, e, group, number);
            if (first)
                first_stages<0, false>(g, s, sums, packed, before, group, at);
            else
                first_stages<0, true>(g, s, sums, packed, before, group, at);
            load_c_of(g, e, group, 0);
            load_c_of(g, e, group, 1);
            for (int k = BOXES * BK; k < g.k; k += BK, at.next()) {
                barrier_wait(&s.full[at.stage], at.parity);
                wgmma_hold(sums);
                wgmma_fence();
                multiply_stage<0, BN>(s, sums, group, at.stage, true);
                wgmma_hold(sums);
                wgmma_wait<1>();
                leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
            }
            wgmma_wait<0>();
            wgmma_hold(sums);
            leave(&s.empty[(at.stage + STAGES - 1) % STAGES]);
            finish_units<0>(g, sums, e, group);
#pragma unroll
            for (int i = 0; i < BN / 4; i++)
                packed[i] = numbers::pack(sums[2 * i], sums[2 * i + 1]);
            before = e.tile;
        }
        store_all_packed<0>(g, s, packed, before, group);
    }

    template <int LEFT_OVER>
    static __device__ __forceinline__ void leave_stages(stages &s, turn at)
    {
        if constexpr (LEFT_OVER > 0) {
            wgmma_wait<LEFT_OVER - 1>();
            leave(&s.empty[at.stage]);
            at.next();
            leave_stages<LEFT_OVER - 1>(s, at);
        }
    }

    static __device__ __forceinline__ void run(const gemm_arguments &g)
    {
        extern __shared__ __align__(1024) unsigned char memory[];
        stages &s = *(stages *)memory;
        int group = threadIdx.x / 128, clusters = gridDim.x / CLUSTER;
        int number = blockIdx.x / CLUSTER;
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
        if (group == CONSUMERS) {
            registers_lower_to<40>();
            if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one()) {
                turn at = {0, 0};
                cudaGridDependencySynchronize(); /* A and B may be the work of the kernel before */
                for (; number < total; number += clusters)
                    produce(g, s, at, place_of(g, number));
            }
        } else {
            registers_raise_to<232>();
            if (!PLAIN)
                cudaGridDependencySynchronize(); /* so may C and the bias be */
            if constexpr (EDGE > 0) {
                if (number < total && g.k > (2 * EDGE - 1) * BK && !g.stores_directly &&
                    (!g.c || g.c_pieces))
#if TILES_PACKED
                    consume_packed(g, s, group, number, total, clusters);
#else
                    consume_halves(g, s, group, number, total, clusters);
#endif
                else
                    consume_tiles(g, s, group, number, total, clusters);
            } else {
                consume_tiles(g, s, group, number, total, clusters);
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
