/*
 * backward.h: what the kernels of this family share: their arguments, which keys a query sees, and
 * the first pass, which finds each row's delta = sum of dO O.
 *
 * With P = exp(scale Q K^T - lse) and dP = dO V^T: dS = P (dP - delta), dV = P^T dO, dK = scale
 * dS^T Q, dQ = scale dS K. Scores are made anew from Q and K; only log-sum-exp is kept from
 * forward.
 */
#ifndef LOCKSTEP_KERNELS_ATTENTION_BACKWARD_H
#define LOCKSTEP_KERNELS_ATTENTION_BACKWARD_H

#include "attention_numbers.h"
#include "tma.h"
#include "weight_dropout.h"
#define KEPT                                                                                       \
    128 /* rows of what a block of the Hopper steps keeps, and of a tile of the workspace */
#define LOG2_E 1.4426950408889634f

/* kernels/attention_backward/host/backward.h declares the same: keep both alike. */
struct backward_arguments {
    const void *q, *k, *v, *o, *grad; // [batch][heads * group or heads][queries or keys][dim]
    const void *lse;                  // float [batch][heads * group][queries]
    void *dq, *dk, *dv;               // as q, k and v
    void *workspace; // float [batch][heads * group][padded] of lse, then of delta; naive has more
    int batch, heads, group; // heads of K and V, and the queries' heads for each of them
    int queries, keys, dim, causal;
    int padded;          // rows of the workspace: queries and some more
    float scale, scale2; // of scores; times log2(e)
    /* The rest is for naive and ragged; distances are in elements. */
    const void *q_begin,
        *k_begin;        // int [batch + 1]: where packed sequences begin; NULL: not packed
    const void *lengths; // int [batch]: keys from there on are padding; NULL: none
    const void *slopes;  // float [heads * group], of ALiBi; NULL: none
    long long q_row, q_head, k_row, k_head;
    long long rows;        // of the workspace, of all heads and sequences
    int lse_row, lse_head; // from a query to the next, from a head to the next
    int key_tiles;         // packed: of 128 keys, in all sequences
    int left, right;       // keys seen before and after where a query stands
    float softcap;         // of naive: what scores are bent to; 0: nothing
    int dropped;           // of 65536 weights, while
    float kept;            // others are multiplied by this; 1 without dropout
    long long low, high;   // where the counter of dropout begins
    tensor_map q_map, k_map, v_map, grad_map;
};

/* In units of log2; plus infinity where a row has no keys, or is none: its weights are then 0. */
static __device__ __forceinline__ float *lses_of(const backward_arguments &g, int head)
{
    return (float *)g.workspace + (long long)head * g.padded;
}
static __device__ __forceinline__ float *deltas_of(const backward_arguments &g, int head)
{
    return lses_of(g, g.batch * g.heads * g.group + head);
}
/* The last key that a query sees. */
static __device__ __forceinline__ int last_key(const backward_arguments &g, int query)
{
    return g.causal ? min(query + g.keys - g.queries, g.keys - 1) : g.keys - 1;
}

/* A sequence of naive and of ragged. */
struct sequence {
    long long q_first, k_first; // rows before its own; of packed ones, of a head
    long long rows;             // of the workspace before its own, likewise
    int number, queries, keys;
    int visible; // keys that are not padding
};
/* Packed, a sequence's rows of the workspace begin at a tile; there may be one tile more than it
 * needs. */
static __device__ __forceinline__ int first_tile_of(const int *begin, int number)
{
    return begin[number] / KEPT + number;
}
static __device__ __forceinline__ sequence sequence_of(const backward_arguments &g, int number)
{
    sequence s;
    long long heads = g.heads * g.group;
    s.number = number;
    s.queries = g.queries;
    s.keys = g.keys;
    s.q_first = number * heads * g.queries;
    s.k_first = (long long)number * g.heads * g.keys;
    s.rows = number * heads * g.padded;
    if (g.q_begin) {
        const int *q = (const int *)g.q_begin, *k = (const int *)g.k_begin;
        s.q_first = q[number];
        s.k_first = k[number];
        s.queries = q[number + 1] - q[number];
        s.keys = k[number + 1] - k[number];
        s.rows = (long long)first_tile_of(q, number) * KEPT;
    }
    s.visible = g.lengths ? max(min(((const int *)g.lengths)[number], s.keys), 0) : s.keys;
    return s;
}
/* The packed sequence that has a tile; the whole warp asks for the same. */
static __device__ __forceinline__ int sequence_with(const void *begin, int batch, int tile)
{
    int count = 0;
    for (int i = 0; i < batch; i += 32) {
        int at = i + (int)threadIdx.x % 32;
        count += __popc(
            __ballot_sync(0xffffffff, at < batch && first_tile_of((const int *)begin, at) <= tile));
    }
    return count - 1;
}

/* Where row `row` of a head begins in Q, O and their gradients; in K, V and theirs. */
static __device__ __forceinline__ long long q_at(const backward_arguments &g, const sequence &s,
                                                 int head, int row)
{
    return (s.q_first + row) * g.q_row + head * g.q_head;
}
static __device__ __forceinline__ long long k_at(const backward_arguments &g, const sequence &s,
                                                 int kv_head, int row)
{
    return (s.k_first + row) * g.k_row + kv_head * g.k_head;
}
/* And in the workspace: of log-sum-exps, and g.rows further of deltas. */
static __device__ __forceinline__ float *row_at(const backward_arguments &g, const sequence &s,
                                                int head, int row)
{
    return (float *)g.workspace + s.rows + (long long)head * g.padded + row;
}

/* Which words of Philox's stream have the bits of a weight. */
static __device__ __forceinline__ unsigned long long
words_at(const backward_arguments &g, const sequence &s, int head, int query, int key)
{
    return words_of_weight((long long)s.number * g.heads * g.group + head, g.queries, g.keys, query,
                           key);
}

/* A row's log-sum-exp in the workspace's units; `is_one`: it is no padding. */
static __device__ __forceinline__ float lse_in_log2(const void *from, long long at, bool is_one)
{
    float lse = is_one ? ((const float *)from)[at] : lowest();
    return lse == lowest() ? -lse : lse * LOG2_E;
}
/* The sum over `lanes`. */
template <int lanes> static __device__ __forceinline__ float sum_of_lanes(float sum)
{
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    return sum;
}
/* A row of the workspace, from what each of some lanes has of its delta. */
template <int lanes>
static __device__ __forceinline__ void put_row(const backward_arguments &g, int head, int row,
                                               float sum)
{
    float lse = lse_in_log2(g.lse, (long long)head * g.queries + row, row < g.queries);
    sum = sum_of_lanes<lanes>(sum);
    if (threadIdx.x % lanes == 0 && row < g.padded) {
        lses_of(g, head)[row] = lse;
        deltas_of(g, head)[row] = sum;
    }
}
/* The first pass: a warp for each row. */
template <class type> static __device__ __forceinline__ void prepare(const backward_arguments &g)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, head = blockIdx.y;
    long long line = ((long long)head * g.queries + row) * g.dim;
    float sum = 0;
    for (int i = threadIdx.x % 32; i < g.dim && row < g.queries; i += 32)
        sum = fmaf(type::load(g.grad, line + i), type::load(g.o, line + i), sum);
    put_row<32>(g, head, row, sum);
}
#define PREPARE(type)                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        prepare_##type(const __grid_constant__ backward_arguments g)                               \
    {                                                                                              \
        prepare<type>(g);                                                                          \
    }

#endif
