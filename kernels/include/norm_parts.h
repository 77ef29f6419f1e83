/*
 * norm_parts.h: rows over the blocks of a cluster: which part is whose, the moments of all parts,
 * and norms whose parts wait in registers. sm_90; rows are multiples of 16 bytes, and buffers begin
 * at such.
 */
#ifndef LOCKSTEP_KERNELS_NORM_PARTS_H
#define LOCKSTEP_KERNELS_NORM_PARTS_H

#include "norm_registers.h"
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

/* Numbers of a block: they follow from its rank. */
template <class T>
static __device__ __forceinline__ float count_of_block(long long cols, unsigned rank)
{
    unsigned vectors = cols / PER<T>, blocks = cluster_size();
    unsigned room = (vectors + blocks - 1) / blocks, first = rank * room;
    return first >= vectors ? 0 : min(room, vectors - first) * PER<T>;
}

/* Of the cluster; lane k has what block k said, of 8 at most. */
template <class T, bool LAYER>
static __device__ __forceinline__ moments merge_blocks(float2 theirs, long long cols)
{
    unsigned block = threadIdx.x % 8;
    float count = count_of_block<T>(cols, block);
    return merge_lanes<LAYER>(
        block < cluster_size() ? moments{count, theirs.x, theirs.y} : moments{0, 0, 0}, 8);
}
template <class T, bool LAYER>
static __device__ __forceinline__ moments merge_cluster(moments m, turns<float2> *t, unsigned turn,
                                                        long long cols)
{
    if (cluster_size() == 1)
        return m;
    return merge_blocks<T, LAYER>(take_turn(t, turn, make_float2(m.mean, m.squares)), cols);
}

/* A cluster for each row: each block reads its part once. */
template <class T, bool LAYER, int V>
static __device__ __forceinline__ void norm_parts(norm_job<T> a)
{
    __shared__ moments of_warp[2][32];
    __shared__ turns<float2> of_blocks;
    part_of_row p = part_of<T>(a.cols);
    long long row = blockIdx.x / cluster_size();
    turns_begin(&of_blocks);
    share s = {((long long)p.first + threadIdx.x) * PER<T>, (long long)blockDim.x * PER<T>,
               ((long long)p.first + p.count) * PER<T>, true};
    uint4 v[V];
    int filled[V];
    load<T, V>(a, row, s, v, filled);
    moments m = merge_block<LAYER>(measure<T, LAYER, true, V>(v, filled, 1), of_warp[0]);
    turns_wait();
    m = merge_cluster<T, LAYER>(m, &of_blocks, 0, a.cols);
    float factor = factor_for(m, a.cols, a.eps);
    if (factor != 1) { // rarely; all blocks agree
        m = merge_block<LAYER>(measure<T, LAYER, true, V>(v, filled, factor), of_warp[1]);
        m = merge_cluster<T, LAYER>(m, &of_blocks, 1, a.cols);
    }
    statistics st = statistics_of<LAYER>(m, factor, a.cols, a.eps);
    write<T, LAYER, V>(a, row, s, v, filled, st);
    if (threadIdx.x == 0 && cluster_rank() == 0)
        store_statistics<T, LAYER>(a, row, st);
}

#define NORM_PARTS(type, T, LAYER, VECTORS)                                                        \
    extern "C" __global__ void __launch_bounds__(1024) parts_##type(NORM_ARGUMENTS(T))             \
    {                                                                                              \
        norm_parts<T, LAYER, VECTORS>(NORM(T));                                                    \
    }                                                                                              \
    NORM_LONG(type, T, LAYER)

#endif
