/*
 * mma_sync.cu: both products on tensor cores. A block of eight warps takes 128 queries, 16 for each
 * warp, and goes through the keys in tiles of 64. Scores come out of mma.sync in the very registers
 * in which the second product wants its first factor: the weights never leave them. Tiles come by
 * cp.async; V is on its way while the scores are made, and the next K while V is used. ldmatrix
 * reads chunks of 16 bytes that are permuted by XOR with the row's number, so that it meets all
 * banks.
 */
// arch: sm_80
#include "mma_sync.h"
#include "softmax_rows.h"
#define QUERIES 128
#define KEYS 64
#define WARPS 8
#define THREADS (32 * WARPS)

template <class type, int DIM, bool CAPPED> struct flash {
    static const int ROW = (DIM + 63) / 64 * 128; /* bytes of a row in shared memory */

    static __device__ __forceinline__ unsigned place(unsigned row, unsigned chunk)
    {
        return row * ROW + ((chunk ^ row % 8) << 4);
    }

    /* Rows from `inside` on are zero. */
    static __device__ __forceinline__ void copy_tile(unsigned to, const void *from, long long at,
                                                     long long pitch, int rows, int inside)
    {
        const int chunks = DIM / 8;
#pragma unroll 4
        for (int i = threadIdx.x; i < rows * chunks; i += THREADS) {
            int row = i / chunks, chunk = i - row * chunks;
            const unsigned short *source = (const unsigned short *)from + at;
            if (row < inside)
                source += row * pitch + chunk * 8;
            copy_async_16_to(to + place(row, chunk), source, row < inside ? 16 : 0);
        }
        copy_async_commit();
    }

    static __device__ __forceinline__ void make_scores(float (&scores)[KEYS / 2], unsigned q,
                                                       unsigned k)
    {
        unsigned lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < KEYS / 2; i++)
            scores[i] = 0;
#pragma unroll
        for (unsigned i = 0; i < DIM / 16; i++) {
            unsigned of_q[4], of_k[4];
            load_matrices(of_q, q + place(lane % 16, 2 * i + lane / 16));
#pragma unroll
            for (unsigned j = 0; j < KEYS / 16; j++) {
                load_matrices(of_k,
                              k + place(16 * j + lane / 16 * 8 + lane % 8, 2 * i + lane / 8 % 2));
                multiply(type(), scores + 8 * j, of_q, of_k[0], of_k[1]);
                multiply(type(), scores + 8 * j + 4, of_q, of_k[2], of_k[3]);
            }
        }
    }

    static __device__ __forceinline__ void
    add_values(float (&out)[DIM / 2], const unsigned (&weights)[KEYS / 16][4], unsigned v)
    {
        unsigned lane = threadIdx.x % 32;
#pragma unroll
        for (unsigned i = 0; i < KEYS / 16; i++)
#pragma unroll
            for (unsigned j = 0; j < DIM / 16; j++) {
                unsigned of_v[4];
                load_transposed(of_v, v + place(16 * i + lane % 16, 2 * j + lane / 16));
                multiply(type(), out + 8 * j, weights[i], of_v[0], of_v[1]);
                multiply(type(), out + 8 * j + 4, weights[i], of_v[2], of_v[3]);
            }
    }

    static __device__ __forceinline__ void run(const attention_arguments &g, const sequence &s,
                                               int first_row)
    {
        extern __shared__ __align__(128) unsigned char memory[];
        unsigned q = shared_address(memory), k = q + QUERIES * ROW, v = k + KEYS * ROW;
        int warp_row = first_row + threadIdx.x / 32 * 16, row = warp_row + threadIdx.x % 32 / 4;
        long long of_k = s.batch * g.k_batch + s.kv_head * g.k_head + s.k_first * g.k_row;
        long long of_v = s.batch * g.v_batch + s.kv_head * g.v_head + s.k_first * g.v_row;
        int last_row = min(first_row + QUERIES, s.queries) - 1;
        int first = seen_by(g, s, first_row).first / KEYS * KEYS;
        int last = seen_by(g, s, last_row).last;
        float out[DIM / 2] = {0}, scores[KEYS / 2];
        unsigned weights[KEYS / 16][4];
        rows r = {{lowest(), lowest()}, {0, 0}, {0, 0}};
        if (first <= last) {
            copy_tile(q, g.q,
                      s.batch * g.q_batch + s.head * g.q_head + (s.q_first + first_row) * g.q_row,
                      g.q_row, QUERIES, s.queries - first_row);
            copy_tile(k, g.k, of_k + first * g.k_row, g.k_row, KEYS, s.visible - first);
        }
        for (int key = first; key <= last; key += KEYS) {
            int next = key + KEYS;
            copy_async_wait(0);
            __syncthreads(); /* K is here, and V is free */
            copy_tile(v, g.v, of_v + key * g.v_row, g.v_row, KEYS, s.visible - key);
            make_scores(scores, q + threadIdx.x / 32 * 16 * ROW, k);
            finish_scores<CAPPED>(scores, g, s, warp_row, row, key, r, g.scale);
            pack<type>(weights, scores);
            copy_async_wait(0);
            __syncthreads(); /* V is here, and K is free */
            if (next <= last)
                copy_tile(k, g.k, of_k + next * g.k_row, g.k_row, KEYS, s.visible - next);
#pragma unroll
            for (int i = 0; i < DIM / 2; i++)
                out[i] *= r.shrink[i / 2 % 2];
            add_values(out, weights, v);
        }
        store<type>(out, r, g, s, row, factors{g.scale, g.kept});
    }
};

/* Under a causal mask the last rows have most to do: they come first. */
#define ATTENTION(name, type, dim, resident, capped)                                               \
    extern "C" __global__ void __launch_bounds__(THREADS, resident)                                \
        attention_##type##_##dim##name(const __grid_constant__ attention_arguments g)              \
    {                                                                                              \
        sequence s = sequence_of(g, blockIdx.x);                                                   \
        int row = (int)(gridDim.y - 1 - blockIdx.y) * QUERIES;                                     \
        if (row < s.queries)                                                                       \
            flash<type, dim, capped>::run(g, s, row);                                              \
    }
#define ATTENTIONS(name, type, capped)                                                             \
    ATTENTION(name, type, 64, 2, capped)                                                           \
    ATTENTION(name, type, 96, 2, capped)                                                           \
    ATTENTION(name, type, 128, 2, capped)                                                          \
    ATTENTION(name, type, 256, 1, capped)
ATTENTIONS(, bf16, false)
ATTENTIONS(, f16, false)
ATTENTIONS(_capped, bf16, true)
ATTENTIONS(_capped, f16, true)
