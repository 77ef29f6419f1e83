/*
 * stream_k.cu: every SM gets the same share, whatever the number of tiles. With 150 tiles for 132
 * SMs, persistent.cu takes the time of two tiles for the work of 1.14. Here the tiles that make no
 * whole wave are laid end to end along k, and each block takes an equal stretch of that: it may end
 * one tile and begin the next. The block that has a tile's beginning stores the tile; the others
 * leave their sums in global memory and raise a flag.
 *
 * Stretch i belongs to block gridDim.x - 1 - i. Who waits, waits for a later stretch, and so for a
 * block with a lower number, which has been started before.
 */
// arch: sm_90a
#define STAGES 4 // tune: 3 4
#include "ring.h"
#include "store.h"
#define GROUP 16 /* rows of tiles that go through the columns together, for the L2 */

/* Tiles 0 to `streamed` are shared, the others are whole waves. */
struct plan {
    int down, across, steps, streamed;
};
static __device__ __forceinline__ plan plan_of(int m, int n, int k)
{
    plan p = {(m + BM - 1) / BM, (n + BN - 1) / BN, (k + BK - 1) / BK, 0};
    int tiles = p.down * p.across, blocks = (int)gridDim.x, rest = tiles % blocks;
    /* With a wave before it, what is left makes stretches that are longer than a tile: no tile has
     * more than three blocks, and most of the work has no flags. */
    p.streamed = rest == 0 ? 0 : tiles < blocks ? rest : rest + blocks;
    return p;
}
static __device__ __forceinline__ long long begin_of(const plan &p, int stretch)
{
    return (long long)p.streamed * p.steps * stretch / gridDim.x;
}

/* What a block does next: steps `from` to `to` of a tile. First its stretch, then whole tiles. */
struct piece {
    int tile, from, to;
};
struct work {
    long long at, end; /* of the stretch */
    int next;          /* whole tile */
};
static __device__ __forceinline__ work work_of(const plan &p)
{
    int stretch = (int)(gridDim.x - 1 - blockIdx.x);
    return work{begin_of(p, stretch), begin_of(p, stretch + 1), p.streamed + (int)blockIdx.x};
}
static __device__ __forceinline__ bool take(const plan &p, work &w, piece &next)
{
    if (w.at < w.end) {
        next.tile = (int)(w.at / p.steps);
        next.from = (int)(w.at % p.steps);
        next.to = (int)min((long long)p.steps, next.from + w.end - w.at);
        w.at += next.to - next.from;
        return true;
    }
    next = piece{w.next, 0, p.steps};
    w.next += (int)gridDim.x;
    return next.tile < p.down * p.across;
}

/* Where a tile lies. */
static __device__ __forceinline__ int row_of(const plan &p, int tile, int *column)
{
    int first = tile / (GROUP * p.across) * GROUP, inside = tile - first * p.across;
    int height = min(p.down - first, GROUP);
    *column = inside / height * BN;
    return (first + inside % height) * BM;
}

/* A warpgroup's sums between blocks: thread by thread, so that neighbours lie side by side. */
static __device__ __forceinline__ float *slot(float *partial, int stretch, int group)
{
    return partial + ((long long)stretch * CONSUMERS + group) * (BN / 2 * 128) + threadIdx.x % 128;
}
static __device__ __forceinline__ void sync_warpgroup(int group)
{
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}
static __device__ __forceinline__ void leave_sums(float *partial, unsigned *flags, int stretch,
                                                  int group, const float (&sums)[BN / 2])
{
    float *to = slot(partial, stretch, group);
#pragma unroll
    for (int i = 0; i < BN / 2; i++)
        to[i * 128] = sums[i];
    sync_warpgroup(group);
    if (threadIdx.x % 128 == 0) {
        fence_acq_rel();
        atomicExch(&flags[stretch * CONSUMERS + group], 1);
    }
}

/* Adds what other blocks made of the tile, in the order of k. */
static __device__ __forceinline__ void add_sums(const plan &p, float *partial, unsigned *flags,
                                                int tile, int group, float (&sums)[BN / 2])
{
    long long end = (long long)(tile + 1) * p.steps;
    int stretch = (int)(gridDim.x - blockIdx.x); /* the one after this block's */
    for (; begin_of(p, stretch) < end; stretch++) {
        if (begin_of(p, stretch) == begin_of(p, stretch + 1))
            continue;
        if (threadIdx.x % 128 == 0)
            while (!load_acquire(&flags[stretch * CONSUMERS + group]))
                ;
        sync_warpgroup(group);
        const float *from = slot(partial, stretch, group);
#pragma unroll
        for (int i = 0; i < BN / 2; i++)
            sums[i] += from[i * 128];
    }
}

/* The flags are 0. */
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
         unsigned short *c, int m, int n, int k, float *partial, unsigned *flags)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    ring &r = *(ring *)memory;
    plan p = plan_of(m, n, k);
    work w = work_of(p);
    piece now;
    int group = threadIdx.x / 128, row, column;
    if (threadIdx.x == 0)
        make_ring(r);
    __syncthreads();
    turn at = {0, 0};
    if (group == CONSUMERS) {
        registers_lower_to<40>();
        if (threadIdx.x / 32 == 4 * CONSUMERS && elect_one())
            while (take(p, w, now)) {
                row = row_of(p, now.tile, &column);
                produce(r, at, &a, &b, row, column, now.from, now.to);
            }
    } else {
        registers_raise_to<232>();
        while (take(p, w, now)) {
            float sums[BN / 2];
            consume(r, at, sums, group, now.to - now.from);
            if (now.from > 0) {
                leave_sums(partial, flags, (int)(gridDim.x - 1 - blockIdx.x), group, sums);
                continue;
            }
            if (now.to < p.steps)
                add_sums(p, partial, flags, now.tile, group, sums);
            row = row_of(p, now.tile, &column);
            store_sums(c, sums, row + group * 64, column, m, n);
        }
    }
}
