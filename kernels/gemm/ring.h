/*
 * ring.h: the main loop of warp_specialised.cu for a part of k, as split_k.cu and stream_k.cu need
 * it: one thread fills a ring of stages, two warpgroups empty it. The ring goes on from one part to
 * the next.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_RING_H
#define LOCKSTEP_KERNELS_GEMM_RING_H

#include "tma.h"
#include "wgmma.h"
#define BM 128
#define BN 256
#define BK 64     /* a line of the swizzle: 128 bytes */
#define CONSUMERS 2
#define THREADS (128 * (1 + CONSUMERS))
#define BOX (64 * 128) /* bytes of 64 lines of the swizzle */

struct ring {
    unsigned char a[STAGES][BM * BK * 2], b[STAGES][BK * BN * 2];
    barrier full[STAGES], empty[STAGES];
};

/* By one thread, before the block synchronises. */
static __device__ __forceinline__ void make_ring(ring &r)
{
    for (int i = 0; i < STAGES; i++) {
        barrier_make(&r.full[i], 1);
        barrier_make(&r.empty[i], CONSUMERS);
    }
    barrier_made();
}

/* A position in the ring, and the parity of its turn. */
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

/* Steps `from` to `to` of k, BK elements each, of the tile at (row, column); by one thread. */
static __device__ __forceinline__ void produce(ring &r, turn &at, const tensor_map *a,
                                               const tensor_map *b, int row, int column, int from,
                                               int to)
{
    for (int step = from; step < to; step++, at.next()) {
        barrier *full = &r.full[at.stage];
        barrier_wait(&r.empty[at.stage], at.parity ^ 1);
        barrier_arrive_expecting(full, sizeof r.a[0] + sizeof r.b[0]);
        tma_load(r.a[at.stage], a, step * BK, row, full);
        for (int i = 0; i < BN / 64; i++)
            tma_load(r.b[at.stage] + i * BOX, b, column + i * 64, step * BK, full);
    }
}

/* As many steps, for 64 rows of the tile: sums are set, not added to. */
static __device__ __forceinline__ void consume(ring &r, turn &at, float (&sums)[BN / 2], int group,
                                               int steps)
{
    for (int step = 0; step < steps; step++, at.next()) {
        unsigned a = shared_address(r.a[at.stage]) + group * BOX;
        unsigned b = shared_address(r.b[at.stage]);
        barrier_wait(&r.full[at.stage], at.parity);
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < BK / 16; i++)
            wgmma_bf16<0, 1>(sums, wgmma_tile(a + i * 32, 1024, 0),
                             wgmma_tile(b + i * 2048, 1024, BOX), step > 0 || i > 0);
        wgmma_commit();
        wgmma_hold(sums);
        wgmma_wait<1>(); /* the products of the stage before this one are done */
        if (step > 0 && threadIdx.x % 128 == 0)
            barrier_arrive(&r.empty[(at.stage + STAGES - 1) % STAGES]);
    }
    wgmma_wait<0>();
    wgmma_hold(sums);
    if (threadIdx.x % 128 == 0)
        barrier_arrive(&r.empty[(at.stage + STAGES - 1) % STAGES]);
}

#endif
