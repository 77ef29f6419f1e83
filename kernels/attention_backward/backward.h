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
#include "philox.h"
#include "tma.h"

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
    int left, right;     // of naive: keys seen before and after where a query stands,
    float softcap;       // what scores are bent to, 0: nothing,
    int dropped;         // and how many of 65536 weights are dropped, while
    float kept;          // others are multiplied by this
    long long seed, offset;
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

/* A row of the workspace, from what each of some lanes has of its delta. */
template <int lanes>
static __device__ __forceinline__ void put_row(const backward_arguments &g, int head, int row,
                                               float sum)
{
    float lse = -lowest();
    if (row < g.queries) {
        lse = ((const float *)g.lse)[(long long)head * g.queries + row];
        lse = lse == lowest() ? -lse : lse * 1.4426950408889634f;
    }
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
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
