/*
 * parts.h: rows of logits over the blocks of a cluster: which part is whose, what a warp knows of
 * the vectors that it holds, and what all blocks know together. sm_90; rows are multiples of 16
 * bytes, and begin at such.
 */
#ifndef LOCKSTEP_CROSS_ENTROPY_PARTS_H
#define LOCKSTEP_CROSS_ENTROPY_PARTS_H

#include "entropy.h"
#include "turns.h"

/* The columns of this block, in vectors. */
struct part_of_row {
    unsigned first, count, room; // room: of a stage, what the block with most has
};
template <class T> static __device__ __forceinline__ part_of_row part_of(long long cols)
{
    unsigned vectors = cols / PER<T>, blocks = cluster_size();
    unsigned room = (vectors + blocks - 1) / blocks, first = cluster_rank() * room;
    return part_of_row{first, first >= vectors ? 0 : min(room, vectors - first), room};
}

/* Of what a thread holds: the sum of powers, and (SMOOTH) of the numbers themselves. */
template <class T, int V, bool EXACT, bool SMOOTH>
static __device__ __forceinline__ void add_up(const uint4 (&v)[V], unsigned count, exponents e,
                                              known &k)
{
    float sum[2] = {0, 0}, x[PER<T>];
#pragma unroll
    for (int i = 0; i < V; i++) {
        bool inside = threadIdx.x + i * blockDim.x < count;
        widen_all<T>(v[i], x);
#pragma unroll
        for (int j = 0; j < PER<T>; j++) {
            sum[j % 2] += power<EXACT>(e, x[j]);
            if (SMOOTH)
                k.total += inside ? x[j] : 0;
        }
    }
    k.sum = sum[0] + sum[1];
}

/* What a warp holds. */
template <class T, int V>
static __device__ __forceinline__ known measure(uint4 (&v)[V], unsigned count, bool smooth)
{
    known k = {max_lanes(largest<T, V>(v), 32), 0, 0};
    exponents e = exponents_from(k.most, LOG2_E);
    only_words(v);
    if (e.exact)
        add_up<T, V, true, true>(v, count, e, k);
    else if (smooth)
        add_up<T, V, false, true>(v, count, e, k);
    else
        add_up<T, V, false, false>(v, count, e, k);
    only_words(v);
    k.sum = sum_lanes(k.sum, 32) * e.correction;
    k.total = smooth ? sum_lanes(k.total, 32) : 0;
    return k;
}

/* The gradients of a vector, but for the label's part. */
template <class T, bool EXACT>
static __device__ __forceinline__ void slopes(uint4 v, outcome o, exponents e, float factor,
                                              float (&x)[PER<T>])
{
    widen_all<T>(v, x);
#pragma unroll
    for (int j = 0; j < PER<T>; j++)
        x[j] = fmaf(power<EXACT>(e, x[j]), factor, o.constant);
}

/* What a thread holds becomes its gradients. The thread that has the label's logit writes the loss,
 * and that vector again: so the others need not ask for each vector whether it is the one. */
template <class T, int V, bool EXACT>
static __device__ __forceinline__ void write_slopes(entropy_job<T> a, long long row, part_of_row p,
                                                    const uint4 (&v)[V], outcome o, exponents e)
{
    uint4 *to = (uint4 *)(a.logits + row * a.cols) + p.first;
    unsigned label = (unsigned)o.label / PER<T> - p.first, element = (unsigned)o.label % PER<T>;
    float factor = o.factor * e.correction, x[PER<T>];
#pragma unroll
    for (int i = 0; i < V; i++) {
        unsigned at = threadIdx.x + i * blockDim.x;
        if (!a.fused || at >= p.count)
            break;
        slopes<T, EXACT>(v[i], o, e, factor, x);
        store_stream(&to[at], narrow_all<T>(x));
    }
    if (label >= p.count || label % blockDim.x != threadIdx.x)
        return;
    uint4 mine = v[0];
    float logit = 0;
#pragma unroll
    for (int i = 1; i < V; i++)
        mine = label == threadIdx.x + i * blockDim.x ? v[i] : mine;
    widen_all<T>(mine, x);
#pragma unroll
    for (int j = 0; j < PER<T>; j++)
        logit = j == element ? x[j] : logit;
    a.losses[row] = loss(a, o, logit);
    slopes<T, EXACT>(mine, o, e, factor, x);
#pragma unroll
    for (int j = 0; j < PER<T>; j++)
        x[j] += j == element ? o.at_label : 0;
    if (a.fused)
        store_stream(&to[label], narrow_all<T>(x));
}
template <class T, int V>
static __device__ __forceinline__ void write_part(entropy_job<T> a, long long row, part_of_row p,
                                                  const uint4 (&v)[V], outcome o)
{
    exponents e = exponents_from(o.zero, LOG2_E);
    if (o.counts && !e.exact) {
        write_slopes<T, V, false>(a, row, p, v, o, e);
    } else if (o.counts) {
        write_slopes<T, V, true>(a, row, p, v, o, e);
    } else if (a.fused) {
        float x[PER<T>];
#pragma unroll
        for (int j = 0; j < PER<T>; j++)
            x[j] = o.constant;
        for (unsigned at = threadIdx.x; at < p.count; at += blockDim.x)
            store_stream((uint4 *)(a.logits + row * a.cols) + p.first + at, narrow_all<T>(x));
    }
}

/* What the cluster knows, of what each block does. */
static __device__ __forceinline__ known merge_blocks(known k, turns<float4> *of_blocks,
                                                     unsigned turn)
{
    if (cluster_size() == 1)
        return k;
    float4 other = take_turn(of_blocks, turn, make_float4(k.most, k.sum, k.total, 0));
    return merge_lanes<8>(threadIdx.x % 8 < cluster_size() ? known{other.x, other.y, other.z}
                                                           : known_nothing());
}

#endif
