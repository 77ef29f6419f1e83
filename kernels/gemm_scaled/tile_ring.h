/*
 * tile_ring.h: the ring of stages in shared memory that tiles.h multiplies from: where tiles lie,
 * how their stages are filled, given back and multiplied.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_TILE_RING_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_TILE_RING_H

#include "tile_scales.h"

enum {
    BM = 128,
    BK = 128, /* a line of the swizzle, and the k of a block of scales */
    CONSUMERS = 2,
    THREADS = 128 * (1 + CONSUMERS),
    BOX = 64 * 128, /* bytes of 64 lines of the swizzle */
    STEP_K = 32     /* of one product */
};

template <class numbers, int BN, int STAGES, int CLUSTER, bool BY_BLOCKS> struct tile_ring {
    typedef typename numbers::sum sum;
    typedef tile_place place;
    typedef tile_scales<BM, BN> block_scales;
    static const int LEAVING = BN == 192 ? 3 : 2; /* boxes of a consumer on their way out */

    struct stages {
        unsigned char a[STAGES][BM * BK], b[STAGES][BN * BK];
        unsigned char out[CONSUMERS][LEAVING][BOX];
        float scales[BY_BLOCKS ? STAGES : 1][BM + 4]; /* of blocks: A's, then B's */
        float columns[CONSUMERS][BY_BLOCKS ? 1 : BN]; /* scales of columns */
        barrier full[STAGES], empty[STAGES];
    };

    typedef tile_order<BM, BN, CLUSTER> order;
    typedef ring_turn<STAGES> turn;

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

    /* A warp of its own copies the scales of blocks, and each of its threads arrives when its copies
     * have. */
    static __device__ __forceinline__ void produce_scales(const scaled_arguments &g, stages &s,
                                                          turn &at, place tile)
    {
        typename block_scales::source from = block_scales::source_of(g, tile);
        for (int block = 0; block < blocks_of(g.k); block++, at.next()) {
            barrier_wait(&s.empty[at.stage], at.parity ^ 1);
            block_scales::copy_next(g, from, s.scales[at.stage]);
            barrier_arrive_after_copies(&s.full[at.stage]);
        }
    }

    static __device__ __forceinline__ void leave(barrier *empty)
    {
        if (threadIdx.x % 128 < CLUSTER)
            barrier_arrive_in(empty, threadIdx.x % 128);
    }

    /* All of a stage's k, for as many columns as there are sums (2 of a thread's are one), the part
     * number `part` of so many; not waited for. */
    template <int count>
    static __device__ __forceinline__ void multiply(stages &s, sum (&sums)[count], int group,
                                                    int stage, int part, bool add)
    {
        unsigned a = shared_address(s.a[stage]) + group * BOX;
        unsigned b = shared_address(s.b[stage]) + part * count * 2 * BK;
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < BK / STEP_K; i++)
            numbers::multiply(sums, wgmma_tile(a + i * STEP_K, 1024, 0),
                              wgmma_tile(b + i * STEP_K, 1024, 0), add || i > 0);
        wgmma_commit();
        wgmma_hold(sums);
    }
};

#endif
