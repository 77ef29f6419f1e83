/*
 * in_flight.cu: a block for each tile. All of a thread's loads are under way before it computes a random
 * number: those depend on places alone, and so Philox runs while memory answers.
 */
// arch: sm_80
#include "elements.h"
#include "prefetch.h"

#define AHEAD (4 << 20) // bytes of an array from what a block reads to what it asks the L2 for
#define BLOCK 128 // tune: 128 256 512 1024
#define UNROLL 2 // tune: 1 2 4 8

template <class T> static __device__ __forceinline__ void in_flight(arrays<T> a, dropout d)
{
    const long long step = BLOCK * PER<T>, tile = step * UNROLL, from = blockIdx.x * tile;
    if (!in_vectors(a) || from + tile > a.n) {
        long long end = min(from + tile, a.n);
#pragma unroll 1
        for (long long i = from + threadIdx.x; i < end; i += BLOCK)
            do_element(a, d, i);
        return;
    }
    long long first = from + threadIdx.x * PER<T>;
    uint4 v[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        v[k] = load_once((const uint4 *)(a.x + first + k * step));
    prefetch_later(a.x + from, tile * sizeof(T), (a.n - from) * sizeof(T), AHEAD);
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        do_vector(a, d, first + k * step, v[k]);
}

KERNELS(in_flight, BLOCK)
