/*
 * skinny_part.h: which part of a product with few rows a block takes: 64 columns for each of its
 * consumers, and, where a cluster shares a tile, one of g.parts pieces of k.
 */
#ifndef LOCKSTEP_KERNELS_SKINNY_PART_H
#define LOCKSTEP_KERNELS_SKINNY_PART_H

#include "products.h"

struct skinny_part {
    int row, column, matrix; /* of D */
    int from, to;            /* steps of k */
};

/* ROWS of a tile, BK numbers of k a step; rank: the block's in its cluster. */
template <int ROWS, int BK, class arguments>
static __device__ __forceinline__ skinny_part part_of_block(const arguments &g, int columns,
                                                            int rank)
{
    int steps = (g.k + BK - 1) / BK, across = (int)(g.parts > 1 ? cluster_number() : blockIdx.x);
    float per_part = __fdividef(1.0f, (float)g.parts);
    return skinny_part{(int)blockIdx.y * ROWS, across * columns, (int)blockIdx.z,
                       quotient(steps * rank, g.parts, per_part),
                       quotient(steps * (rank + 1), g.parts, per_part)};
}

#endif
