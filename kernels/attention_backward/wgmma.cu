/*
 * wgmma.cu: Hopper's units, and no matrix in memory: scores are made anew, tile by tile, from Q, K
 * and the log-sum-exp. One kernel has a block for 128 keys and goes through the queries, with dK and
 * dV in registers; another has a block for 128 queries and goes through the keys, with dQ in
 * registers. So two of seven products are made twice, but nothing is added in memory: no atomics,
 * and the same bits in every run. One warp asks the TMA unit for tiles; two warpgroups multiply. P
 * and dS come out of products in the registers in which the next ones want their first factor.
 */
// arch: sm_90a
#include "tiles.h"
#define ROWS 64
#define STAGES 2

template <class type, int DIM> struct backward : tiles<type, DIM, ROWS, STAGES> {
    typedef tiles<type, DIM, ROWS, STAGES> in;
    typedef typename in::memory memory;

    static __device__ __forceinline__ void consume_queries(memory &m, const backward_arguments &g,
                                                           int key, int kv_head, int group)
    {
        int tiles = (g.queries + ROWS - 1) / ROWS, turn = 0;
        int mine = key + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
        unsigned long long k = wgmma_tile(shared_address(m.kept[0]) + group * 64 * LINE, 1024, 0);
        unsigned long long v = wgmma_tile(shared_address(m.kept[1]) + group * 64 * LINE, 1024, 0);
        float dk[DIM / 2] = {0}, dv[DIM / 2] = {0}, weights[ROWS / 2], slopes[ROWS / 2];
        unsigned packed_weights[ROWS / 16][4], packed_slopes[ROWS / 16][4];
        barrier_wait(&m.kept_full, 0);
        for (int head = 0; head < g.group; head++)
            for (int tile = in::first_tile(g, key); tile < tiles; tile++, turn++) {
                int stage = turn % STAGES;
                barrier_wait(&m.full[stage], turn / STAGES % 2);
                wgmma_fence();
                in::ask(weights, k, m.passing[stage][0][0]);
                in::ask(slopes, v, m.passing[stage][1][0]);
                wgmma_wait<1>();
                wgmma_hold(weights);
                bool whole = key + KEPT - 1 <= last_key(g, tile * ROWS);
                in::weigh_columns(weights, m.lse[stage], g);
                if (!whole)
                    in::mask_columns(weights, g, mine, tile * ROWS + threadIdx.x % 4 * 2);
                wgmma_wait<0>();
                wgmma_hold(slopes);
                in::slope_columns(slopes, weights, m.delta[stage]);
                pack<type>(packed_weights, weights);
                pack<type>(packed_slopes, slopes);
                wgmma_hold(dv);
                wgmma_hold(dk);
                wgmma_fence();
                in::add(dv, packed_weights, m.passing[stage][1][0]);
                in::add(dk, packed_slopes, m.passing[stage][0][0]);
                wgmma_wait<0>();
                wgmma_hold(dv);
                wgmma_hold(dk);
                in::leave(&m.empty[stage]);
            }
        in::store(dv, g.dv, kv_head, mine, g.keys, 1);
        in::store(dk, g.dk, kv_head, mine, g.keys, g.scale);
    }

    static __device__ __forceinline__ void consume_keys(memory &m, const backward_arguments &g,
                                                        int query, int head, int group)
    {
        int first = query + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
        unsigned long long q = wgmma_tile(shared_address(m.kept[0]) + group * 64 * LINE, 1024, 0);
        unsigned long long grad =
            wgmma_tile(shared_address(m.kept[1]) + group * 64 * LINE, 1024, 0);
        float dq[DIM / 2] = {0}, weights[ROWS / 2], slopes[ROWS / 2], lse[2], delta[2];
        unsigned packed_slopes[ROWS / 16][4];
#pragma unroll
        for (int h = 0; h < 2; h++) { /* rows beyond the queries are there, in the workspace */
            lse[h] = lses_of(g, head)[first + 8 * h];
            delta[h] = deltas_of(g, head)[first + 8 * h];
        }
        barrier_wait(&m.kept_full, 0);
        for (int tile = 0; tile < in::tiles_of_keys(g, query); tile++) {
            int stage = tile % STAGES;
            barrier_wait(&m.full[stage], tile / STAGES % 2);
            wgmma_fence();
            in::ask(weights, q, m.passing[stage][0][0]);
            in::ask(slopes, grad, m.passing[stage][1][0]);
            wgmma_wait<1>();
            wgmma_hold(weights);
            bool whole = tile * ROWS + ROWS - 1 <= last_key(g, query);
            in::weigh_rows(weights, lse, g, first, tile * ROWS, whole);
            wgmma_wait<0>();
            wgmma_hold(slopes);
            in::slope_rows(slopes, weights, delta);
            pack<type>(packed_slopes, slopes);
            wgmma_hold(dq);
            wgmma_fence();
            in::add(dq, packed_slopes, m.passing[stage][0][0]);
            wgmma_wait<0>();
            wgmma_hold(dq);
            in::leave(&m.empty[stage]);
        }
        in::store(dq, g.dq, head, first, g.queries, g.scale);
    }
};

BACKWARDS(bf16)
BACKWARDS(f16)
