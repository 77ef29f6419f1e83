/*
 * tiles.h: what the Hopper steps share: tiles of Q, K and V in shared memory, in lines of the
 * swizzle, how TMA fetches them, and the two products of a warpgroup.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_TILES_H
#define LOCKSTEP_KERNELS_ATTENTION_TILES_H

#include "order.h"
#include "softmax_rows.h"
#include "wgmma_types.h"
#define STAGES 2
#ifndef CONSUMERS
#define CONSUMERS 2 /* warpgroups that multiply */
#endif
#define THREADS (128 * (1 + CONSUMERS))

/* By one thread, before the block synchronises. */
template <class stages> static __device__ __forceinline__ void make_barriers(stages &m)
{
    barrier_make(&m.q_full, 1);
    barrier_make(&m.q_empty, CONSUMERS);
    for (int i = 0; i < STAGES; i++) {
        barrier_make(&m.k_full[i], 1);
        barrier_make(&m.v_full[i], 1);
        barrier_make(&m.k_empty[i], CONSUMERS);
        barrier_make(&m.v_empty[i], CONSUMERS);
    }
    barrier_made();
}

/* A warpgroup needs a tile no more. */
static __device__ __forceinline__ void leave(barrier *empty)
{
    if (threadIdx.x % 128 == 0)
        barrier_arrive(empty);
}

template <class type, int DIM, int KEYS> struct tiles : places<KEYS> {
    static const int BOXES = (DIM + 63) / 64;
    struct stages {
        unsigned char q[BOXES][QUERIES * LINE];
        unsigned char k[STAGES][BOXES][KEYS * LINE], v[STAGES][BOXES][KEYS * LINE];
        barrier q_full, q_empty, k_full[STAGES], k_empty[STAGES], v_full[STAGES], v_empty[STAGES];
    };

    static __device__ __forceinline__ void load_queries(stages &m, const attention_arguments &g,
                                                        const place &p)
    {
        barrier_arrive_expecting(&m.q_full, sizeof m.q);
        for (int i = 0; i < BOXES; i++)
            if (g.q_begin)
                load_ragged_box(m.q[i], &g.q_map, i * 64, p.row, p.s.head, p.s.q_first, p.s.queries,
                                &m.q_full);
            else
                load_box(m.q[i], &g.q_map, i * 64, p.row, p.s.head, p.s.batch, &m.q_full);
    }
    /* A tile of K or V. */
    static __device__ __forceinline__ void load(unsigned char (&to)[BOXES][KEYS * LINE],
                                                const attention_arguments &g, const tensor_map *map,
                                                int apart, const sequence &s, int tile,
                                                barrier *full, barrier *empty, unsigned parity)
    {
        barrier_wait(empty, parity ^ 1);
        barrier_arrive_expecting(full, sizeof to);
        for (int i = 0; i < BOXES; i++)
            if (g.is_ragged)
                load_ragged_box(to[i], map, i * 64, tile * KEYS, s.kv_head,
                                s.k_first + s.batch * apart, s.visible, full);
            else
                load_box(to[i], map, i * 64, tile * KEYS, s.kv_head, s.batch, full);
    }

    /* The descriptor of what lies so many bytes further on. */
    static __device__ __forceinline__ unsigned long long beyond(unsigned long long tile,
                                                                unsigned bytes)
    {
        return tile + (bytes >> 4);
    }

    /* scores = Q K^T for the warpgroup's 64 rows; not waited for. */
    static __device__ __forceinline__ void ask_scores(float (&scores)[KEYS / 2],
                                                      unsigned long long q, unsigned char *of_k)
    {
        unsigned long long k = wgmma_tile(shared_address(of_k), 1024, 0);
#pragma unroll
        for (int i = 0; i < DIM / 16; i++)
            multiply(type(), scores, beyond(q, i / 4 * (QUERIES * LINE) + i % 4 * 32),
                     beyond(k, i / 4 * (KEYS * LINE) + i % 4 * 32), i > 0);
        wgmma_commit();
    }

    /* out += weights V; not waited for. */
    static __device__ __forceinline__ void
    ask_output(float (&out)[DIM / 2], const unsigned (&weights)[KEYS / 16][4], unsigned char *of_v)
    {
        unsigned long long v = wgmma_tile(shared_address(of_v), 1024, KEYS * LINE);
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++)
            multiply(type(), out, weights[i], beyond(v, i * 2048));
        wgmma_commit();
    }
};

#endif
