/*
 * in_flight.cu: all loads of a tile before its first store: UNROLL vectors of each input are on
 * their way from every thread, as many bytes as the memory's latency times its speed. A block's
 * tile is one stretch of memory, so that few DRAM pages are open at a time. What is read once can
 * bypass the L1, and what is written leaves the L2 first. BLOCKS_PER_SM 0: a block for each tile,
 * else a grid that stays and walks over the tiles.
 */
// arch: sm_80
#include "device.h"
#include "operations.h"

#define BLOCK 1024 // tune: 128 256 512 1024
#define UNROLL 1 // tune: 1 2 4 8
#define BLOCKS_PER_SM 0 // tune: 0 1 2 4 8
#define LOAD_PAST_L1 0 // tune: 0 1 2
#define STORE_STREAMING 1 // tune: 0 1
#define TILE (BLOCK * UNROLL) // vectors

static __device__ float4 load(const float4 *at)
{
    return LOAD_PAST_L1 == 2 ? load_once_256(at) : LOAD_PAST_L1 == 1 ? load_once(at) : *at;
}

static __device__ void store(float4 *at, float4 v)
{
    if (STORE_STREAMING)
        __stcs(at, v);
    else
        store_whole(at, v);
}

// here: how many vectors of the tile there are, if it is not whole.
template <class Op>
static __device__ __forceinline__ void do_tile(const float *x, const float *y, float *out,
                                               float scalar, bool whole, unsigned here)
{
    unsigned me = threadIdx.x; // the rest are constants within the instructions
    const float4 *xs = (const float4 *)x + me, *ys = (const float4 *)y + me;
    float4 *outs = (float4 *)out + me, a[UNROLL], b[UNROLL];
#pragma unroll
    for (unsigned k = 0; k < UNROLL; k++)
        if (whole || k * BLOCK + me < here) {
            a[k] = load(xs + k * BLOCK);
            b[k] = Op::two ? load(ys + k * BLOCK) : a[k];
        }
#pragma unroll
    for (unsigned k = 0; k < UNROLL; k++)
        if (whole || k * BLOCK + me < here)
            store(outs + k * BLOCK, of_four<Op>(a[k], b[k], scalar));
}

template <class Op>
static __device__ void in_flight(const float *x, const float *y, float *out, float scalar,
                                 long long n)
{
    parts p = split(x, y, out, n);
    long long whole = (size_t)p.vectors / TILE;
    for (long long tile = blockIdx.x; tile <= whole; tile += gridDim.x) {
        long long i = p.head + 4 * TILE * tile;
        if (tile < whole)
            do_tile<Op>(x + i, y + i, out + i, scalar, true, 0);
        else
            do_tile<Op>(x + i, y + i, out + i, scalar, false, (unsigned)(p.vectors - TILE * tile));
    }
    do_ends<Op>(p, x, y, out, scalar, n);
}

KERNELS(in_flight, BLOCK)
