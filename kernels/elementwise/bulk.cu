/*
 * bulk.cu: the inputs come into shared memory by bulk copies: one thread asks for a whole tile with
 * one instruction for each input, and a barrier counts the bytes. What is on its way then costs no
 * registers and no instructions of the other threads, and is asked for as soon as the block begins.
 * TILE_BYTES are loaded for a tile, of both inputs together; all tiles on an SM together should be
 * the memory's latency times its speed. Each block ends with its tile: the hardware starts the next
 * one wherever there is room, whose loads overlap the stores of those that are there.
 * Operations with one input have a block and a tile of their own size, and gain nothing by stores
 * that leave the L2 first.
 */
// arch: sm_90
#include "bulk.h"
#include "operations.h"

#define BLOCK 256 // tune: 128 192 256 512
#define TILE_BYTES 6144 // tune: 4096 5120 6144 8192 16384
#define BLOCK_OF_ONE 128 // tune: 128 192 256 512
#define TILE_BYTES_OF_ONE 4096 // tune: 4096 5120 6144 8192 16384

#define THREADS (Op::two ? BLOCK : BLOCK_OF_ONE)
#define TILE    (Op::two ? TILE_BYTES / 8 : TILE_BYTES_OF_ONE / 4) // elements

// What the last block has: elements in whole vectors.
static __device__ unsigned rest_of(bool alike, long long first, long long n)
{
    return alike && first < n ? (unsigned)(n - first) / 4 * 4 : 0;
}

// By one thread: the loads of this many elements.
template <class Op>
static __device__ __forceinline__ void start(float *tile, barrier *ready, const float *x,
                                             const float *y, unsigned here)
{
    if (here == 0)
        return;
    barrier_arrive_expecting(ready, 4 * here * (1 + Op::two));
    bulk_load(tile, x, 4 * here, ready);
    if (Op::two)
        bulk_load(tile + TILE, y, 4 * here, ready);
}

// By all, once they have come.
template <class Op>
static __device__ __forceinline__ void finish(const float *tile, barrier *ready, float *out,
                                              float scalar, unsigned here)
{
    if (here == 0)
        return;
    barrier_wait(ready, 0);
#pragma unroll
    for (unsigned k = 0; k < (TILE + 4 * THREADS - 1) / (4 * THREADS); k++) {
        unsigned i = 4 * (k * THREADS + threadIdx.x);
        if (i >= here)
            break;
        float4 v = *(const float4 *)(tile + i);
        float4 w = Op::two ? *(const float4 *)(tile + TILE + i) : v;
        if (Op::two)
            __stcs((float4 *)(out + i), of_four<Op>(v, w, scalar));
        else
            store_whole((float4 *)(out + i), of_four<Op>(v, w, scalar));
    }
}

// The loads need nothing but their barrier, which the thread that starts them has made itself: they
// wait for no barrier of the block. For the same reason a whole tile is told from the rest by as
// little as will do, and is a constant from there on.
template <class Op>
static __device__ __forceinline__ void bulk(const float *x, const float *y, float *out,
                                            float scalar, long long n)
{
    __shared__ __align__(16) float tile[TILE * (1 + Op::two)];
    __shared__ barrier ready;
    long long first = before_vectors(out) + (long long)blockIdx.x * TILE;
    bool alike = lie_alike(x, y, out), whole = alike && first + TILE <= n;
    if (threadIdx.x < 32 && elect_one()) {
        barrier_make(&ready, 1);
        barrier_made();
        if (whole)
            start<Op>(tile, &ready, x + first, y + first, TILE);
        else
            start<Op>(tile, &ready, x + first, y + first, rest_of(alike, first, n));
    }
    __syncthreads();

    // While the tile is on its way: what is not in whole vectors, or all.
    do_ends<Op>(split(x, y, out, n), x, y, out, scalar, n);

    if (whole)
        finish<Op>(tile, &ready, out + first, scalar, TILE);
    else
        finish<Op>(tile, &ready, out + first, scalar, rest_of(alike, first, n));
}

ONE_KERNEL(add, Add, bulk, BLOCK)
ONE_KERNEL(saxpy, Saxpy, bulk, BLOCK)
ONE_KERNEL(scale, Scale, bulk, BLOCK_OF_ONE)
ONE_KERNEL(relu, Relu, bulk, BLOCK_OF_ONE)
