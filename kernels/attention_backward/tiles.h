/*
 * tiles.h: what the Hopper steps share: what a block keeps in shared memory and what passes by, how
 * TMA fetches it, and the products of a warpgroup.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_BACKWARD_TILES_H
#define LOCKSTEP_KERNELS_ATTENTION_BACKWARD_TILES_H

#include "backward.h"
#include "wgmma_types.h"
#define BOX 64      /* rows that one request of TMA brings */
#define CONSUMERS 2 /* warpgroups, with 64 rows each of what a block keeps */
#define THREADS (128 * (1 + CONSUMERS))

/* Rows of a tensor [head][row][column], by TMA. */
static __device__ __forceinline__ void load_rows(void *shared, const tensor_map *map, int column,
                                                 int row, int head, barrier *b)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(shared)),
                 "l"(map), "r"(column), "r"(row), "r"(head), "r"(shared_address(b))
                 : "memory");
}

/* ROWS of a tile that passes by, and so many STAGES of them in shared memory. */
template <class type, int DIM, int ROWS, int STAGES> struct tiles {
    static const int BOXES = DIM / 64;
    struct memory {
        unsigned char kept[2][BOXES][KEPT * LINE];            /* K and V, or Q and dO */
        unsigned char passing[STAGES][2][BOXES][ROWS * LINE]; /* Q and dO, or K and V */
        float lse[STAGES][ROWS], delta[STAGES][ROWS];
        barrier kept_full, full[STAGES], empty[STAGES];
    };

    static __device__ __forceinline__ void make_barriers(memory &m)
    {
        barrier_make(&m.kept_full, 1);
        for (int i = 0; i < STAGES; i++) {
            barrier_make(&m.full[i], 1);
            barrier_make(&m.empty[i], CONSUMERS);
        }
        barrier_made();
    }
    static __device__ __forceinline__ void load_kept(memory &m, const tensor_map *first,
                                                     const tensor_map *second, int row, int head)
    {
        barrier_arrive_expecting(&m.kept_full, sizeof m.kept);
        for (int i = 0; i < BOXES; i++)
            for (int half = 0; half < KEPT; half += BOX) {
                load_rows(m.kept[0][i] + half * LINE, first, i * 64, row + half, head,
                          &m.kept_full);
                load_rows(m.kept[1][i] + half * LINE, second, i * 64, row + half, head,
                          &m.kept_full);
            }
    }
    static __device__ __forceinline__ void load_passing(memory &m, int stage,
                                                        const tensor_map *first,
                                                        const tensor_map *second, int row, int head)
    {
        for (int i = 0; i < BOXES; i++)
            for (int at = 0; at < ROWS; at += BOX) {
                load_rows(m.passing[stage][0][i] + at * LINE, first, i * 64, row + at, head,
                          &m.full[stage]);
                load_rows(m.passing[stage][1][i] + at * LINE, second, i * 64, row + at, head,
                          &m.full[stage]);
            }
    }
    static __device__ __forceinline__ void leave(barrier *empty)
    {
        if (threadIdx.x % 128 == 0)
            barrier_arrive(empty);
    }

    static __device__ __forceinline__ unsigned long long beyond(unsigned long long tile,
                                                                unsigned bytes)
    {
        return tile + (bytes >> 4);
    }
    /* sums = kept passing^T, of a warpgroup's 64 rows; not waited for. */
    static __device__ __forceinline__ void ask(float (&sums)[ROWS / 2], unsigned long long kept,
                                               const unsigned char *passing)
    {
        unsigned long long other = wgmma_tile(shared_address(passing), 1024, 0);
#pragma unroll
        for (int i = 0; i < DIM / 16; i++)
            multiply(type(), sums, beyond(kept, i / 4 * (KEPT * LINE) + i % 4 * 32),
                     beyond(other, i / 4 * (ROWS * LINE) + i % 4 * 32), i > 0);
        wgmma_commit();
    }
    /* sums += factor passing; not waited for. */
    static __device__ __forceinline__ void add(float (&sums)[DIM / 2],
                                               const unsigned (&factor)[ROWS / 16][4],
                                               const unsigned char *passing)
    {
        unsigned long long other = wgmma_tile(shared_address(passing), 1024, ROWS * LINE);
#pragma unroll
        for (int i = 0; i < ROWS / 16; i++)
            multiply(type(), sums, factor[i], beyond(other, i * 2048));
        wgmma_commit();
    }
    /* Rows of `count` from `row` on, times `by`; `pitch` from a row to the next. */
    static __device__ __forceinline__ void put(const float (&sums)[DIM / 2], unsigned short *to,
                                               long long pitch, int row, int count, float by)
    {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            bool inside = row + 8 * h < count;
            unsigned short *at = to + (row + 8 * h) * pitch + threadIdx.x % 4 * 8;
#pragma unroll
            for (int i = 0; i < DIM / 32; i++) {
                uint4 piece = exchange<type>(sums + 16 * i, h, by);
                if (inside)
                    *(uint4 *)(at + 32 * i) = piece;
            }
        }
    }
    static __device__ __forceinline__ void store(const float (&sums)[DIM / 2], void *to,
                                                 long long head, int row, int count, float by)
    {
        put(sums, (unsigned short *)to + head * count * DIM, DIM, row, count, by);
    }

    /* dK and dV ---------------------------------------------------------------------------------*/

    static __device__ __forceinline__ int first_tile(const backward_arguments &g, int key)
    {
        return g.causal ? max(key - (g.keys - g.queries), 0) / ROWS : 0;
    }

    static __device__ __forceinline__ void produce_queries(memory &m, const backward_arguments &g,
                                                           int key, int kv_head)
    {
        int tiles = (g.queries + ROWS - 1) / ROWS, turn = 0;
        load_kept(m, &g.k_map, &g.v_map, key, kv_head);
        for (int head = kv_head * g.group; head < (kv_head + 1) * g.group; head++)
            for (int tile = first_tile(g, key); tile < tiles; tile++, turn++) {
                int stage = turn % STAGES;
                barrier_wait(&m.empty[stage], (turn / STAGES % 2) ^ 1);
                barrier_arrive_expecting(&m.full[stage],
                                         sizeof m.passing[0] + sizeof m.lse[0] + sizeof m.delta[0]);
                load_passing(m, stage, &g.q_map, &g.grad_map, tile * ROWS, head);
                bulk_load(m.lse[stage], lses_of(g, head) + tile * ROWS, sizeof m.lse[0],
                          &m.full[stage]);
                bulk_load(m.delta[stage], deltas_of(g, head) + tile * ROWS, sizeof m.delta[0],
                          &m.full[stage]);
            }
    }

    /* Scores become weights; rows are keys, columns queries. */
    static __device__ __forceinline__ void
    weigh_columns(float (&scores)[ROWS / 2], const float *lse, const backward_arguments &g)
    {
#pragma unroll
        for (int c = 0; c < ROWS / 8; c++) {
            float2 of = *(const float2 *)(lse + 8 * c + threadIdx.x % 4 * 2);
#pragma unroll
            for (int i = 0; i < 4; i++)
                scores[4 * c + i] =
                    exp2_fast(fmaf(scores[4 * c + i], g.scale2, -(i % 2 ? of.y : of.x)));
        }
    }
    /* Of keys that a query does not see they are 0; `key` and `query` are the thread's first. */
    static __device__ __forceinline__ void
    mask_columns(float (&weights)[ROWS / 2], const backward_arguments &g, int key, int query)
    {
#pragma unroll
        for (int i = 0; i < ROWS / 2; i++)
            if (key + i / 2 % 2 * 8 > last_key(g, query + i / 4 * 8 + i % 2))
                weights[i] = 0;
    }

    /* dP becomes dS. */
    static __device__ __forceinline__ void
    slope_columns(float (&slopes)[ROWS / 2], const float (&weights)[ROWS / 2], const float *delta)
    {
#pragma unroll
        for (int c = 0; c < ROWS / 8; c++) {
            float2 of = *(const float2 *)(delta + 8 * c + threadIdx.x % 4 * 2);
#pragma unroll
            for (int i = 0; i < 4; i++)
                slopes[4 * c + i] =
                    weights[4 * c + i] * (slopes[4 * c + i] - (i % 2 ? of.y : of.x));
        }
    }

    /* dQ ----------------------------------------------------------------------------------------*/

    static __device__ __forceinline__ int tiles_of_keys(const backward_arguments &g, int query)
    {
        return (last_key(g, min(query + KEPT, g.queries) - 1) + ROWS) / ROWS;
    }

    static __device__ __forceinline__ void produce_keys(memory &m, const backward_arguments &g,
                                                        int query, int head)
    {
        load_kept(m, &g.q_map, &g.grad_map, query, head);
        for (int tile = 0; tile < tiles_of_keys(g, query); tile++) {
            int stage = tile % STAGES;
            barrier_wait(&m.empty[stage], (tile / STAGES % 2) ^ 1);
            barrier_arrive_expecting(&m.full[stage], sizeof m.passing[0]);
            load_passing(m, stage, &g.k_map, &g.v_map, tile * ROWS, head / g.group);
        }
    }

    /* The same for rows of queries and columns of keys from `key` on. */
    static __device__ __forceinline__ void weigh_rows(float (&scores)[ROWS / 2],
                                                      const float (&lse)[2],
                                                      const backward_arguments &g, int query,
                                                      int key, bool whole)
    {
#pragma unroll
        for (int i = 0; i < ROWS / 2; i++) {
            scores[i] = exp2_fast(fmaf(scores[i], g.scale2, -lse[i / 2 % 2]));
            int column = key + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
            if (!whole && column > last_key(g, query + i / 2 % 2 * 8))
                scores[i] = 0;
        }
    }
    static __device__ __forceinline__ void
    slope_rows(float (&slopes)[ROWS / 2], const float (&weights)[ROWS / 2], const float (&delta)[2])
    {
#pragma unroll
        for (int i = 0; i < ROWS / 2; i++)
            slopes[i] = weights[i] * (slopes[i] - delta[i / 2 % 2]);
    }
};

template <class step>
static __device__ __forceinline__ void run(const backward_arguments &g, bool of_keys)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    typename step::memory &m = *(typename step::memory *)shared;
    /* Under a causal mask the first keys and the last queries have most to do. */
    int group = threadIdx.x / 128, head = blockIdx.x;
    int row = (int)(of_keys ? blockIdx.y : gridDim.y - 1 - blockIdx.y) * KEPT;
    if (threadIdx.x == 0)
        step::make_barriers(m);
    __syncthreads();
    if (group == CONSUMERS) {
        registers_lower_to<24>();
        if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one()) {
            if (of_keys)
                step::produce_queries(m, g, row, head);
            else
                step::produce_keys(m, g, row, head);
        }
    } else {
        registers_raise_to<240>();
        if (of_keys)
            step::consume_queries(m, g, row, head, group);
        else
            step::consume_keys(m, g, row, head, group);
    }
}

#define BACKWARD(type, dim)                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        of_keys_##type##_##dim(const __grid_constant__ backward_arguments g)                       \
    {                                                                                              \
        run<backward<type, dim>>(g, true);                                                         \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        of_queries_##type##_##dim(const __grid_constant__ backward_arguments g)                    \
    {                                                                                              \
        run<backward<type, dim>>(g, false);                                                        \
    }
#define BACKWARDS(type)                                                                            \
    PREPARE(type)                                                                                  \
    BACKWARD(type, 64)                                                                             \
    BACKWARD(type, 128)

#endif
