/*
 * in_flight.cu: a block for each tile of a row, whose loads all come before its first store: UNROLL
 * vectors of each array are on their way from every thread. One division for each block finds the row,
 * where vectorised.cu has one for each vector. Where one array is read, a block also asks the L2 for
 * what a later one will read.
 */
// arch: sm_80
#include "passes.h"
#include "prefetch.h"

#define AHEAD (2 << 20) // bytes from what a block reads to what it asks the L2 for
#define BLOCK 128 // tune: 128 256 512 1024
#define UNROLL 2 // tune: 1 2 4

template <class Pass, class T>
static __device__ __forceinline__ void do_elements(arrays<T> a, long long row, long long from,
                                                   long long end)
{
#pragma unroll 1
    for (long long column = from + threadIdx.x; column < end; column += BLOCK)
        do_element<Pass>(a, row, column);
}

template <class Pass, class T>
static __device__ __forceinline__ void in_flight(arrays<T> a, long long rows)
{
    const int tile = BLOCK * UNROLL * PER<T>;
    long long tiles = (a.cols + tile - 1) / tile, row = blockIdx.x / tiles;
    long long from = (blockIdx.x - row * tiles) * tile;
    if (!in_vectors<Pass>(a)) {
        do_elements<Pass>(a, row, from, min(from + tile, a.cols));
        return;
    }
    long long column = from + threadIdx.x * PER<T>;
    long long wide = row * a.stride + column, at = row * a.cols + column;
    loaded v[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        if (column + k * BLOCK * PER<T> < a.cols)
            v[k] = load_vector<Pass>(a, wide + k * BLOCK * PER<T>, at + k * BLOCK * PER<T>);
    if (!Pass::gated && !Pass::backward) { // of several arrays, asking takes as long as it saves
        unsigned bytes = (unsigned)min((long long)tile, a.cols - from) * sizeof(T);
        long long place = row * a.stride + from,
                  left = ((rows - 1) * a.stride + a.cols - place) * sizeof(T);
        prefetch_later(a.x + place, bytes, left, AHEAD);
    }
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        if (column + k * BLOCK * PER<T> < a.cols)
            do_vector<Pass>(a, wide + k * BLOCK * PER<T>, at + k * BLOCK * PER<T>, v[k]);
}

KERNELS(in_flight, BLOCK)
