/*
 * warp_aggregated.cu: degrees: lanes that hold the same vertex find each other (__match_any_sync),
 * and one of them adds for all. A list sorted by one end, or a graph with a few vertices that many
 * edges share, sends a fraction of the atomics; where no two lanes agree the match is wasted.
 */
// arch: sm_75
#include "device.h" // load_stream: a load that bypasses the L1
#define BLOCK 256 // tune: 128 256 512
#define UNROLL 4 // tune: 2 4 8
#define NO_VERTEX 0xffffffffu

// All lanes take part.
__device__ __forceinline__ void add_one(unsigned vertex, unsigned *degree)
{
    unsigned same = __match_any_sync(0xffffffff, vertex);
    if (vertex != NO_VERTEX && threadIdx.x % 32 == __ffs(same) - 1)
        atomicAdd(degree + vertex, __popc(same));
}

// Each thread has UNROLL edges, and all its loads in flight.
extern "C" __global__ void __launch_bounds__(BLOCK)
    count_degrees(const unsigned *from, const unsigned *to, long long edges, unsigned *degree)
{
    long long first = (long long)blockIdx.x * BLOCK * UNROLL + threadIdx.x;
    unsigned a[UNROLL], b[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
        long long edge = first + k * BLOCK;
        a[k] = edge < edges ? load_stream(from + edge) : NO_VERTEX;
        b[k] = edge < edges ? load_stream(to + edge) : NO_VERTEX;
    }
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
        add_one(a[k], degree);
        add_one(b[k], degree);
    }
}
