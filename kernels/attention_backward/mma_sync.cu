/*
 * mma_sync.cu: no matrix in memory: scores are made anew, tile by tile, from Q, K and the
 * log-sum-exp. One kernel has a block for 64 keys and goes through the queries, with dK and dV in
 * registers; another has a block for 64 queries and goes through the keys, with dQ in registers. So
 * two of seven products are made twice, but nothing is added in memory: no atomics, and the same
 * bits in every run. Four warps have 16 rows each. P and dS come out of mma.sync in the registers in
 * which the next product wants its first factor. The next tile comes by cp.async meanwhile.
 */
// arch: sm_80
#include "backward.h"
#include "mma_sync.h"
#define ROWS 64 /* of a tile */
#define WARPS 4
#define THREADS (32 * WARPS)

template <class type, int DIM> struct backward {
    static const int ROW = (DIM + 63) / 64 * 128; /* bytes of a row in shared memory */
    static const int TILE = ROWS * ROW;

    static __device__ __forceinline__ unsigned place(unsigned row, unsigned chunk)
    {
        return row * ROW + ((chunk ^ row % 8) << 4);
    }
    /* Rows of two tensors from `row` on, one behind the other; beyond `count` they are zero. */
    static __device__ __forceinline__ void copy(unsigned to, const void *first, const void *second,
                                                long long head, int row, int count)
    {
        const int chunks = DIM / 8;
        long long from = (head * count + row) * DIM;
        for (int i = threadIdx.x; i < ROWS * chunks; i += THREADS) {
            int line = i / chunks, chunk = i - line * chunks;
            bool inside = row + line < count;
            long long at = inside ? from + (long long)line * DIM + chunk * 8 : 0;
            copy_async_16_to(to + place(line, chunk), (const unsigned short *)first + at,
                             inside ? 16 : 0);
            copy_async_16_to(to + TILE + place(line, chunk), (const unsigned short *)second + at,
                             inside ? 16 : 0);
        }
        copy_async_commit();
    }

    /* sums = kept passing^T, of the warp's 16 rows. */
    static __device__ __forceinline__ void product(float (&sums)[ROWS / 2], unsigned kept,
                                                   unsigned passing)
    {
        unsigned lane = threadIdx.x % 32, a[4], b[4];
#pragma unroll
        for (int i = 0; i < ROWS / 2; i++)
            sums[i] = 0;
#pragma unroll
        for (unsigned i = 0; i < DIM / 16; i++) {
            load_matrices(a, kept + place(lane % 16, 2 * i + lane / 16));
#pragma unroll
            for (unsigned j = 0; j < ROWS / 16; j++) {
                load_matrices(b, passing + place(16 * j + lane / 16 * 8 + lane % 8,
                                                 2 * i + lane / 8 % 2));
                multiply(type(), sums + 8 * j, a, b[0], b[1]);
                multiply(type(), sums + 8 * j + 4, a, b[2], b[3]);
            }
        }
    }
    /* sums += factor passing. */
    static __device__ __forceinline__ void add(float (&sums)[DIM / 2],
                                               const unsigned (&factor)[ROWS / 16][4],
                                               unsigned passing)
    {
        unsigned lane = threadIdx.x % 32, b[4];
#pragma unroll
        for (unsigned i = 0; i < ROWS / 16; i++)
#pragma unroll
            for (unsigned j = 0; j < DIM / 16; j++) {
                load_transposed(b, passing + place(16 * i + lane % 16, 2 * j + lane / 16));
                multiply(type(), sums + 8 * j, factor[i], b[0], b[1]);
                multiply(type(), sums + 8 * j + 4, factor[i], b[2], b[3]);
            }
    }
    static __device__ __forceinline__ void store(const float (&sums)[DIM / 2], void *to,
                                                 long long head, int row, int count, float by)
    {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            bool inside = row + 8 * h < count;
            unsigned short *at =
                (unsigned short *)to + (head * count + row + 8 * h) * DIM + threadIdx.x % 4 * 8;
#pragma unroll
            for (int i = 0; i < DIM / 32; i++) {
                uint4 piece = exchange<type>(sums + 16 * i, h, by);
                if (inside)
                    *(uint4 *)(at + 32 * i) = piece;
            }
        }
    }

    /* dK and dV of 64 keys: rows are keys, columns queries. */
    static __device__ __forceinline__ void of_keys(const backward_arguments &g)
    {
        extern __shared__ __align__(128) unsigned char shared[];
        unsigned kept = shared_address(shared), passing = kept + 2 * TILE;
        int key = blockIdx.y * ROWS, kv_head = blockIdx.x, warp = threadIdx.x / 32;
        int mine = key + warp * 16 + threadIdx.x % 32 / 4;
        int begin = g.causal ? max(key - (g.keys - g.queries), 0) / ROWS : 0;
        int tiles = max((g.queries + ROWS - 1) / ROWS - begin, 0), turns = tiles * g.group;
        float dk[DIM / 2] = {0}, dv[DIM / 2] = {0}, weights[ROWS / 2], slopes[ROWS / 2];
        unsigned packed[ROWS / 16][4];
        copy(kept, g.k, g.v, kv_head, key, g.keys);
        if (turns > 0)
            copy(passing, g.q, g.grad, kv_head * g.group, begin * ROWS, g.queries);
        for (int turn = 0; turn < turns; turn++) {
            int head = kv_head * g.group + turn / tiles, query = (begin + turn % tiles) * ROWS;
            unsigned here = passing + turn % 2 * 2 * TILE;
            const float *lse = lses_of(g, head) + query, *delta = deltas_of(g, head) + query;
            copy_async_wait(0);
            __syncthreads(); /* this tile is here, and nobody uses the one before */
            if (turn + 1 < turns)
                copy(passing + (turn + 1) % 2 * 2 * TILE, g.q, g.grad,
                     kv_head * g.group + (turn + 1) / tiles, (begin + (turn + 1) % tiles) * ROWS,
                     g.queries);
            product(weights, kept + warp * 16 * ROW, here);
            product(slopes, kept + TILE + warp * 16 * ROW, here + TILE);
#pragma unroll
            for (int i = 0; i < ROWS / 2; i++) {
                int column = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
                weights[i] = exp2_fast(fmaf(weights[i], g.scale2, -lse[column]));
                if (mine + i / 2 % 2 * 8 > last_key(g, query + column))
                    weights[i] = 0;
                slopes[i] = weights[i] * (slopes[i] - delta[column]);
            }
            pack<type>(packed, weights);
            add(dv, packed, here + TILE);
            pack<type>(packed, slopes);
            add(dk, packed, here);
        }
        store(dv, g.dv, kv_head, mine, g.keys, 1);
        store(dk, g.dk, kv_head, mine, g.keys, g.scale);
    }

    /* dQ of 64 queries. */
    static __device__ __forceinline__ void of_queries(const backward_arguments &g)
    {
        extern __shared__ __align__(128) unsigned char shared[];
        unsigned kept = shared_address(shared), passing = kept + 2 * TILE;
        int query = (int)(gridDim.y - 1 - blockIdx.y) * ROWS, head = blockIdx.x;
        int warp = threadIdx.x / 32, mine = query + warp * 16 + threadIdx.x % 32 / 4;
        int tiles = (last_key(g, min(query + ROWS, g.queries) - 1) + ROWS) / ROWS;
        float dq[DIM / 2] = {0}, weights[ROWS / 2], slopes[ROWS / 2], lse[2], delta[2];
        unsigned packed[ROWS / 16][4];
#pragma unroll
        for (int h = 0; h < 2; h++) { /* rows beyond the queries are there, in the workspace */
            lse[h] = lses_of(g, head)[mine + 8 * h];
            delta[h] = deltas_of(g, head)[mine + 8 * h];
        }
        copy(kept, g.q, g.grad, head, query, g.queries);
        if (tiles > 0)
            copy(passing, g.k, g.v, head / g.group, 0, g.keys);
        for (int tile = 0; tile < tiles; tile++) {
            unsigned here = passing + tile % 2 * 2 * TILE;
            copy_async_wait(0);
            __syncthreads();
            if (tile + 1 < tiles)
                copy(passing + (tile + 1) % 2 * 2 * TILE, g.k, g.v, head / g.group,
                     (tile + 1) * ROWS, g.keys);
            product(weights, kept + warp * 16 * ROW, here);
            product(slopes, kept + TILE + warp * 16 * ROW, here + TILE);
#pragma unroll
            for (int i = 0; i < ROWS / 2; i++) {
                int key = tile * ROWS + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2, h = i / 2 % 2;
                weights[i] = exp2_fast(fmaf(weights[i], g.scale2, -lse[h]));
                if (key > last_key(g, mine + h * 8))
                    weights[i] = 0;
                slopes[i] = weights[i] * (slopes[i] - delta[h]);
            }
            pack<type>(packed, slopes);
            add(dq, packed, here);
        }
        store(dq, g.dq, head, mine, g.queries, g.scale);
    }
};

#define BACKWARD(type, dim)                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS, 2)                                       \
        of_keys_##type##_##dim(const __grid_constant__ backward_arguments g)                       \
    {                                                                                              \
        backward<type, dim>::of_keys(g);                                                           \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 2)                                       \
        of_queries_##type##_##dim(const __grid_constant__ backward_arguments g)                    \
    {                                                                                              \
        backward<type, dim>::of_queries(g);                                                        \
    }
#define BACKWARDS(type)                                                                            \
    PREPARE(type)                                                                                  \
    BACKWARD(type, 64)                                                                             \
    BACKWARD(type, 96)                                                                             \
    BACKWARD(type, 128)
BACKWARDS(bf16)
BACKWARDS(f16)
