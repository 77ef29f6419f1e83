/*
 * tile_order.h: the order in which a persistent grid takes the tiles of D, and a place in the ring of
 * stages that its producer fills and its consumers empty. Clusters lie along the rows of tiles.
 */
#ifndef LOCKSTEP_KERNELS_TILE_ORDER_H
#define LOCKSTEP_KERNELS_TILE_ORDER_H

#include "products.h"

/* A tile's first row and column, and which matrix of the batch it belongs to. */
struct tile_place {
    int row, column, matrix;
};

/* Tiles of BM x BN, in bands of g.group clusters: down a band, then the band's next column, so that
 * the rows of A and the columns of B that are in use together fit into the L2. */
template <int BM, int BN, int CLUSTER> struct tile_order {
    template <class arguments>
    static __device__ __forceinline__ int clusters_down(const arguments &g)
    {
        return (g.m + CLUSTER * BM - 1) / (CLUSTER * BM);
    }
    template <class arguments>
    static __device__ __forceinline__ int tiles_across(const arguments &g)
    {
        return (g.n + BN - 1) / BN;
    }
    template <class arguments>
    static __device__ __forceinline__ tile_place place_of(const arguments &g, int number)
    {
        int down = clusters_down(g), across = tiles_across(g);
        int matrix = g.batch > 1 ? quotient(number, down * across, g.per_matrix) : 0;
        number -= matrix * down * across;
        int band = quotient(number, g.group * across, g.per_band), first = band * g.group;
        int height = down - first < g.group ? down - first : g.group;
        int inside = number - first * across, rank = CLUSTER > 1 ? (int)cluster_rank() : 0;
        int column = quotient(inside, height, __fdividef(1.0f, (float)height));
        return tile_place{((first + inside - column * height) * CLUSTER + rank) * BM, column * BN,
                          matrix};
    }
};

/* A position in the ring of stages, and the parity of its turn. */
template <int STAGES> struct ring_turn {
    int stage;
    unsigned parity;
    __device__ __forceinline__ void next(void)
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

#endif
