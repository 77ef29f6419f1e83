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

/* What a warp holds. */
template <class T, int V>
static __device__ __forceinline__ known measure(const uint4 (&v)[V], unsigned count)
{
    known k = known_nothing();
    float x[PER<T>];
#pragma unroll
    for (int i = 0; i < V; i++) {
        if (threadIdx.x + i * blockDim.x >= count)
            continue;
        widen_all<T>(v[i], x);
#pragma unroll
        for (int j = 0; j < PER<T>; j++)
            k.most = fmaxf(k.most, x[j]);
    }
    k.most = max_lanes(k.most, 32);
    float zero = base(k.most);
#pragma unroll
    for (int i = 0; i < V; i++) {
        if (threadIdx.x + i * blockDim.x >= count)
            continue;
        widen_all<T>(v[i], x);
#pragma unroll
        for (int j = 0; j < PER<T>; j++) {
            k.sum += power_of_two((x[j] - zero) * LOG2_E);
            k.total += x[j];
        }
    }
    return known{k.most, sum_lanes(k.sum, 32), sum_lanes(k.total, 32)};
}

/* What the cluster knows, of what each block does. */
static __device__ __forceinline__ known merge_blocks(known k, turns<float4> *of_blocks,
                                                     unsigned turn)
{
    if (cluster_size() == 1)
        return k;
    float4 other = take_turn(of_blocks, turn, make_float4(k.most, k.sum, k.total, 0));
    return merge_lanes(threadIdx.x % 32 < cluster_size() ? known{other.x, other.y, other.z}
                                                         : known_nothing());
}

#endif
