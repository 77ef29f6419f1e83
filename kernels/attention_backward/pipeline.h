/*
 * pipeline.h: the loops of overlapped.cu and turns.cu. A warpgroup asks for a tile's scores and dP
 * together with the products of P and dS of the tile before, and makes P and dS while those run. A
 * file says first whether the warpgroups take TURNS.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_BACKWARD_PIPELINE_H
#define LOCKSTEP_KERNELS_ATTENTION_BACKWARD_PIPELINE_H

#include "tiles.h"
#define ROWS 64
#define STAGES 3

/* The two warpgroups take turns, if they do, at asking for products: while one asks, the other makes
 * P and dS of what it has. */
static __device__ __forceinline__ void turn_wait(int group)
{
    if (TURNS)
        asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
}
static __device__ __forceinline__ void turn_pass(int group)
{
    if (TURNS)
        asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory");
}

template <class type, int DIM> struct backward : tiles<type, DIM, ROWS, STAGES> {
    typedef tiles<type, DIM, ROWS, STAGES> in;
    typedef typename in::memory memory;

    /* dP is asked for at once, unless its sums find no registers beside those of dK, dV and the
     * factors of the tile before. */
    static const bool EARLY = DIM < 128;

    /* dK and dV of a warpgroup's keys, and P and dS of the tile before. */
    struct of_keys {
        float dk[DIM / 2], dv[DIM / 2], weights[ROWS / 2], slopes[ROWS / 2];
        unsigned packed_weights[ROWS / 16][4], packed_slopes[ROWS / 16][4];
        unsigned long long k, v; /* descriptors */
        int key, mine, group;    /* the block's first, and this thread's */
    };

    /* The tile of this turn; if there is one BEFORE it, its products with Q and dO as well. */
    template <bool BEFORE>
    static __device__ __forceinline__ void take_queries(memory &m, const backward_arguments &g,
                                                        of_keys &w, int turn, int query)
    {
        int stage = turn % STAGES, before = (turn + STAGES - 1) % STAGES;
        barrier_wait(&m.full[stage], turn / STAGES % 2);
        turn_wait(w.group);
        wgmma_hold(w.dv);
        wgmma_hold(w.dk);
        wgmma_fence();
        in::ask(w.weights, w.k, m.passing[stage][0][0]);
        if (EARLY)
            in::ask(w.slopes, w.v, m.passing[stage][1][0]);
        if (BEFORE) {
            in::add(w.dv, w.packed_weights, m.passing[before][1][0]);
            in::add(w.dk, w.packed_slopes, m.passing[before][0][0]);
        }
        turn_pass(w.group);
        wgmma_wait<(EARLY ? 1 : 0) + (BEFORE ? 2 : 0)>();
        wgmma_hold(w.weights);
        bool whole = w.key + KEPT - 1 <= last_key(g, query);
        in::weigh_columns(w.weights, m.lse[stage], g);
        if (!whole)
            in::mask_columns(w.weights, g, w.mine, query + threadIdx.x % 4 * 2);
        if (EARLY) {
            wgmma_wait<BEFORE ? 2 : 0>();
            wgmma_hold(w.slopes);
            in::slope_columns(w.slopes, w.weights, m.delta[stage]);
        }
        if (BEFORE) {
            wgmma_wait<0>();
            wgmma_hold(w.dv);
            wgmma_hold(w.dk);
            in::leave(&m.empty[before]);
        }
        if (!EARLY) {
            wgmma_fence();
            in::ask(w.slopes, w.v, m.passing[stage][1][0]);
            pack<type>(w.packed_weights, w.weights);
            wgmma_wait<0>();
            wgmma_hold(w.slopes);
            in::slope_columns(w.slopes, w.weights, m.delta[stage]);
        }
        if (EARLY)
            pack<type>(w.packed_weights, w.weights);
        pack<type>(w.packed_slopes, w.slopes);
    }

    static __device__ __forceinline__ void consume_queries(memory &m, const backward_arguments &g,
                                                           int key, int kv_head, int group)
    {
        int begin = in::first_tile(g, key), tile = begin, tiles = (g.queries + ROWS - 1) / ROWS;
        int turns = max(tiles - begin, 0) * g.group, last = (turns + STAGES - 1) % STAGES;
        of_keys w;
        w.key = key;
        w.group = group;
        w.mine = key + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
        w.k = wgmma_tile(shared_address(m.kept[0]) + group * 64 * LINE, 1024, 0);
        w.v = wgmma_tile(shared_address(m.kept[1]) + group * 64 * LINE, 1024, 0);
#pragma unroll
        for (int i = 0; i < DIM / 2; i++)
            w.dk[i] = w.dv[i] = 0;
        barrier_wait(&m.kept_full, 0);
        if (turns > 0) {
            if (group == 1)
                turn_pass(group);
            take_queries<false>(m, g, w, 0, tile * ROWS);
            for (int turn = 1; turn < turns; turn++) {
                tile = tile + 1 == tiles ? begin : tile + 1;
                take_queries<true>(m, g, w, turn, tile * ROWS);
            }
            if (group == 0)
                turn_wait(group);
            wgmma_hold(w.dv);
            wgmma_hold(w.dk);
            wgmma_fence();
            in::add(w.dv, w.packed_weights, m.passing[last][1][0]);
            in::add(w.dk, w.packed_slopes, m.passing[last][0][0]);
            wgmma_wait<0>();
            wgmma_hold(w.dv);
            wgmma_hold(w.dk);
        }
        in::store(w.dv, g.dv, kv_head, w.mine, g.keys, 1);
        in::store(w.dk, g.dk, kv_head, w.mine, g.keys, g.scale);
    }

    /* The same for dQ. */
    struct of_queries {
        float dq[DIM / 2], weights[ROWS / 2], slopes[ROWS / 2], lse[2], delta[2];
        unsigned packed_slopes[ROWS / 16][4];
        unsigned long long q, grad;
        int query, mine, group;
    };
    template <bool BEFORE>
    static __device__ __forceinline__ void take_keys(memory &m, const backward_arguments &g,
                                                     of_queries &w, int tile)
    {
        int stage = tile % STAGES, before = (tile + STAGES - 1) % STAGES;
        barrier_wait(&m.full[stage], tile / STAGES % 2);
        turn_wait(w.group);
        wgmma_hold(w.dq);
        wgmma_fence();
        in::ask(w.weights, w.q, m.passing[stage][0][0]);
        in::ask(w.slopes, w.grad, m.passing[stage][1][0]);
        if (BEFORE)
            in::add(w.dq, w.packed_slopes, m.passing[before][0][0]);
        turn_pass(w.group);
        wgmma_wait<BEFORE ? 2 : 1>();
        wgmma_hold(w.weights);
        bool whole = tile * ROWS + ROWS - 1 <= last_key(g, w.query);
        in::weigh_rows(w.weights, w.lse, g, w.mine, tile * ROWS, whole);
        wgmma_wait<BEFORE ? 1 : 0>();
        wgmma_hold(w.slopes);
        in::slope_rows(w.slopes, w.weights, w.delta);
        if (BEFORE) {
            wgmma_wait<0>();
            wgmma_hold(w.dq);
            in::leave(&m.empty[before]);
        }
        pack<type>(w.packed_slopes, w.slopes);
    }

    static __device__ __forceinline__ void consume_keys(memory &m, const backward_arguments &g,
                                                        int query, int head, int group)
    {
        int tiles = in::tiles_of_keys(g, query), last = (tiles + STAGES - 1) % STAGES;
        of_queries w;
        w.query = query;
        w.group = group;
        w.mine = query + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
        w.q = wgmma_tile(shared_address(m.kept[0]) + group * 64 * LINE, 1024, 0);
        w.grad = wgmma_tile(shared_address(m.kept[1]) + group * 64 * LINE, 1024, 0);
#pragma unroll
        for (int i = 0; i < DIM / 2; i++)
            w.dq[i] = 0;
#pragma unroll
        for (int h = 0; h < 2; h++) { /* rows beyond the queries are there, in the workspace */
            w.lse[h] = lses_of(g, head)[w.mine + 8 * h];
            w.delta[h] = deltas_of(g, head)[w.mine + 8 * h];
        }
        barrier_wait(&m.kept_full, 0);
        if (tiles > 0) {
            if (group == 1)
                turn_pass(group);
            take_keys<false>(m, g, w, 0);
            for (int tile = 1; tile < tiles; tile++)
                take_keys<true>(m, g, w, tile);
            if (group == 0)
                turn_wait(group);
            wgmma_hold(w.dq);
            wgmma_fence();
            in::add(w.dq, w.packed_slopes, m.passing[last][0][0]);
            wgmma_wait<0>();
            wgmma_hold(w.dq);
        }
        in::store(w.dq, g.dq, head, w.mine, g.queries, g.scale);
    }
};

#endif
