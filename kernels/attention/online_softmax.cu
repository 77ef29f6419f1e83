/*
 * online_softmax.cu: no matrix of scores. A block keeps 64 queries and goes through the keys in
 * tiles of 32: scores, their softmax relative to the largest so far, and weights times V, all
 * within the block. When a larger score turns up, the sum and the output so far shrink by the same
 * factor. What a tile leaves behind is the output, two numbers a row, and nothing else. Any type
 * and alignment; in f32, by fused multiply-adds.
 */
// arch: sm_80
#include "attention.h"
#define QUERIES 64
#define KEYS 32
#define THREADS 256 /* 16 x 16: four rows and two keys, or a sixteenth of the columns, for each */

/* A tile in shared memory as f32; rows outside the sequence are zero. A row has an element more
 * than it needs, so that threads on different rows meet different banks. */
template <class type, int DIM>
static __device__ __forceinline__ void load_tile(float *to, const void *from, long long at,
                                                 long long pitch, int rows, int inside)
{
    for (int i = threadIdx.x; i < rows * DIM; i += THREADS) {
        int row = i / DIM, column = i - row * DIM;
        to[row * (DIM + 1) + column] =
            row < inside ? type::load(from, at + row * pitch + column) : 0.0f;
    }
}

/* Over the 16 threads of a row. */
static __device__ __forceinline__ float row_most(float x)
{
    for (int i = 1; i < 16; i *= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, i));
    return x;
}
static __device__ __forceinline__ float row_sum(float x)
{
    for (int i = 1; i < 16; i *= 2)
        x += __shfl_xor_sync(0xffffffff, x, i);
    return x;
}

template <class type, int DIM> struct tiled {
    float *q, *k, *v, *weights; // [QUERIES][DIM + 1], [KEYS][DIM + 1] twice, [QUERIES][KEYS + 1]
    float out[4][DIM / 16];     // rows 4 y .., columns x, x + 16 ..
    float largest[4], sum[4];
    factors by;

    /* The scores of four rows and two keys, and what they do to those rows. */
    __device__ __forceinline__ void weigh(const attention_arguments &g, const sequence &s, int row,
                                          int key)
    {
        int x = threadIdx.x % 16, y = threadIdx.x / 16;
        float scores[4][2] = {{0}};
        for (int i = 0; i < DIM; i++)
#pragma unroll
            for (int r = 0; r < 4; r++)
#pragma unroll
                for (int c = 0; c < 2; c++)
                    scores[r][c] = fmaf(q[(4 * y + r) * (DIM + 1) + i],
                                        k[(x + 16 * c) * (DIM + 1) + i], scores[r][c]);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            seen keys = seen_by(g, s, row + 4 * y + r);
            float weight[2];
#pragma unroll
            for (int c = 0; c < 2; c++) {
                int here = key + x + 16 * c;
                weight[c] = here < keys.first || here > keys.last
                                ? lowest()
                                : scale_score(g, scores[r][c] * by.score) -
                                      distance_cost(g, s, row + 4 * y + r, here);
            }
            float most = row_most(fmaxf(largest[r], fmaxf(weight[0], weight[1])));
            float base = most == lowest() ? 0 : most, shrink = exp2_fast(largest[r] - base);
            largest[r] = most;
            sum[r] *= shrink;
#pragma unroll
            for (int c = 0; c < 2; c++) {
                weight[c] = exp2_fast(weight[c] - base);
                weights[(4 * y + r) * (KEYS + 1) + x + 16 * c] =
                    drop_weight(g, s, row + 4 * y + r, key + x + 16 * c, weight[c]);
                sum[r] += weight[c];
            }
#pragma unroll
            for (int i = 0; i < DIM / 16; i++)
                out[r][i] *= shrink;
        }
    }

    __device__ __forceinline__ void add_values(void)
    {
        int x = threadIdx.x % 16, y = threadIdx.x / 16;
        for (int key = 0; key < KEYS; key++)
#pragma unroll
            for (int i = 0; i < DIM / 16; i++)
#pragma unroll
                for (int r = 0; r < 4; r++)
                    out[r][i] = fmaf(weights[(4 * y + r) * (KEYS + 1) + key],
                                     v[key * (DIM + 1) + x + 16 * i], out[r][i]);
    }

    __device__ __forceinline__ void store(const attention_arguments &g, const sequence &s, int row)
    {
        int x = threadIdx.x % 16, y = threadIdx.x / 16;
#pragma unroll
        for (int r = 0; r < 4; r++) {
            float total = row_sum(sum[r]), part = total == 0 ? 0 : by.value / total;
            int query = row + 4 * y + r;
            if (query >= s.queries)
                continue;
#pragma unroll
            for (int i = 0; i < DIM / 16; i++)
                type::store(g.o,
                            s.batch * g.o_batch + s.head * g.o_head +
                                (s.q_first + query) * g.o_row + x + 16 * i,
                            out[r][i] * part);
            if (x == 0)
                store_lse(g, s, query, lse_of(largest[r], total));
        }
    }

    __device__ __forceinline__ void run(const attention_arguments &g, const sequence &s, int row)
    {
#pragma unroll
        for (int r = 0; r < 4; r++) {
            largest[r] = lowest();
            sum[r] = 0;
#pragma unroll
            for (int i = 0; i < DIM / 16; i++)
                out[r][i] = 0;
        }
        by = factors_of(g, s);
        int last_row = min(row + QUERIES, s.queries) - 1;
        int first = seen_by(g, s, row).first / KEYS * KEYS, last = seen_by(g, s, last_row).last;
        load_tile<type, DIM>(q, g.q,
                             s.batch * g.q_batch + s.head * g.q_head + (s.q_first + row) * g.q_row,
                             g.q_row, QUERIES, s.queries - row);
        for (int key = first; key <= last; key += KEYS) {
            int inside = s.visible - key;
            load_tile<type, DIM>(
                k, g.k, s.batch * g.k_batch + s.kv_head * g.k_head + (s.k_first + key) * g.k_row,
                g.k_row, KEYS, inside);
            load_tile<type, DIM>(
                v, g.v, s.batch * g.v_batch + s.kv_head * g.v_head + (s.k_first + key) * g.v_row,
                g.v_row, KEYS, inside);
            __syncthreads();
            weigh(g, s, row, key);
            __syncwarp(); /* the rows of a warp's weights are its own */
            add_values();
            __syncthreads();
        }
        store(g, s, row);
    }
};

template <class type, int DIM>
static __device__ __forceinline__ void attention(const attention_arguments &g)
{
    extern __shared__ float memory[];
    sequence s = sequence_of(g, blockIdx.y);
    int row = blockIdx.x * QUERIES;
    if (row >= s.queries)
        return;
    tiled<type, DIM> t;
    t.q = memory;
    t.k = t.q + QUERIES * (DIM + 1);
    t.v = t.k + KEYS * (DIM + 1);
    t.weights = t.v + KEYS * (DIM + 1);
    t.run(g, s, row);
}

#define ATTENTION(type, dim)                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS, dim > 128 ? 1 : 2)                       \
        attention_##type##_##dim(const __grid_constant__ attention_arguments g)                    \
    {                                                                                              \
        attention<type, dim>(g);                                                                   \
    }
#define ATTENTIONS(type)                                                                           \
    ATTENTION(type, 64)                                                                            \
    ATTENTION(type, 96)                                                                            \
    ATTENTION(type, 128)                                                                           \
    ATTENTION(type, 256)
ATTENTIONS(bf16)
ATTENTIONS(f16)
ATTENTIONS(f32)
ATTENTIONS(e4m3)
