/*
 * bulk.cu: one pass, 2n bytes, in a pipeline whose steps never wait for one another's latency. A
 * block stays on its SM and its warps have roles: one thread takes tiles by tickets and fetches
 * them by bulk copies, STAGES ahead; adders announce a tile's sum as soon as it has come; a
 * gatherer adds up what was announced since the block's last tile; writers scan the tile and send
 * it off. mbarriers pass a stage on from role to role, so that loads are always on their way. All
 * blocks are there at once (a cooperative launch).
 */
// arch: sm_90
#ifndef EACH
#include "bulk.h"
#include "clear.h"
#define BLOCK 128 // tune: 64 128 256
#define ROWS 8 // tune: 4 8 16
#define STAGES 12 // tune: 6 8 10 12
#define AHEAD 4 // tune: 3 4 6
#define WARPS (BLOCK / 32) /* adders, and as many writers */
#define CHUNK (128 * ROWS) /* a warp's part of a tile */
#define TILE ((i64)BLOCK * 4 * ROWS)
#define AT_ONCE 8 /* states that a lane of the gatherer asks for together */
#define ANNOUNCED (1ull << 32) /* above the bits of a tile's sum */
#define EACH "bulk.cu"
#include "each_type.h"
#else

/* Step k of a block uses stage k % STAGES for the (k / STAGES)th time. */
typedef struct {
    barrier come, added, known, free; /* each ends one phase in every turn */
    u32 tile;
    T before; /* the tile */
    T chunk_sum[WARPS];
} NAME(stage);

/* What every role is told. */
typedef struct {
    const T *in;
    T *out;
    i64 n, tiles;
    u32 *ticket;
    u64 *states;
    bool aligned, exclusive;
    NAME(stage) * stages; /* [STAGES], and what lies in them: */
    T4 *data;             /* [STAGES][TILE / 4] */
} NAME(work);

/* Bulk copies move whole tiles between arrays that lie at 16 bytes. */
DEVICE bool NAME(is_whole)(const NAME(work) * work, i64 tile)
{
    return work->aligned && (tile + 1) * TILE <= work->n;
}

/* By one thread. The first STAGES tiles are given. No more than AHEAD are on their way at a time:
 * what a longer queue would bring comes later for everybody. A tile that is not there says that it
 * is over. */
DEVICE void NAME(fetch_tiles)(const NAME(work) * work)
{
    for (u32 k = 0;; k++) {
        NAME(stage) *stage = work->stages + k % STAGES;
        i64 tile = k < STAGES ? k * blocks_x() + block_x()
                              : STAGES * blocks_x() + atomic_add_u32(work->ticket, 1);
        if (k >= STAGES)
            barrier_wait(&stage->free, (k / STAGES - 1) % 2);
        if (k >= AHEAD)
            barrier_wait(&work->stages[(k - AHEAD) % STAGES].come, (k - AHEAD) / STAGES % 2);
        stage->tile = (u32)tile;
        if (tile < work->tiles && NAME(is_whole)(work, tile)) {
            barrier_arrive_expecting(&stage->come, 4 * TILE);
            bulk_load(work->data + k % STAGES * (TILE / 4), work->in + tile * TILE, 4 * TILE,
                      &stage->come);
        } else {
            barrier_arrive(&stage->come);
        }
        if (tile >= work->tiles)
            return;
    }
}

/* Adds up a chunk of each tile. What no bulk copy could fetch, it fetches first. */
DEVICE void NAME(add_tiles)(const NAME(work) * work, u32 warp)
{
    u32 lane = lane_id();
    for (u32 k = 0;; k++) {
        NAME(stage) *stage = work->stages + k % STAGES;
        T4 *chunk = work->data + k % STAGES * (TILE / 4) + warp * (CHUNK / 4) + lane;
        barrier_wait(&stage->come, k / STAGES % 2);
        i64 tile = stage->tile, at = tile * TILE + warp * CHUNK + lane * 4;
        if (tile >= work->tiles)
            return;
        if (!NAME(is_whole)(work, tile))
            for (u32 row = 0; row < ROWS; row++)
                chunk[row * 32] =
                    LOAD4(work->in + at + row * 128, work->n - (at + row * 128), work->aligned);
        T sum = 0;
#pragma unroll
        for (u32 row = 0; row < ROWS; row++) {
            T4 v = chunk[row * 32];
            sum += (v.x + v.y) + (v.z + v.w);
        }
        sum = SUM_WARP(sum);
        sync_warp();
        if (lane == 0) {
            stage->chunk_sum[warp] = sum;
            barrier_arrive(&stage->added);
        }
        if (warp == 0) {
            barrier_wait(&stage->added, k / STAGES % 2);
            T all = SUM_WARP(lane < WARPS ? stage->chunk_sum[lane] : 0);
            if (lane == 0)
                store_relaxed_u64(work->states + tile, ANNOUNCED | BITS(all));
        }
    }
}

/* By one warp: what lies before each tile. The tiles before it, up to the block's last, were
 * taken sooner and their sums wait for nobody, so that they come. */
DEVICE void NAME(gather_sums)(const NAME(work) * work)
{
    u32 lane = lane_id();
    T before = 0;
    i64 unseen = 0; /* the first tile whose sum is not in `before` */
    for (u32 k = 0;; k++) {
        NAME(stage) *stage = work->stages + k % STAGES;
        barrier_wait(&stage->come, k / STAGES % 2);
        i64 tile = stage->tile;
        if (tile >= work->tiles)
            return;
        T sum = 0;
        for (i64 first = unseen + lane; first < tile; first += 32 * AT_ONCE) {
            u64 state[AT_ONCE];
            bool missing;
#pragma unroll
            for (u32 i = 0; i < AT_ONCE; i++)
                state[i] = first + 32 * i < tile ? 0 : ANNOUNCED;
            do {
                missing = false;
#pragma unroll
                for (u32 i = 0; i < AT_ONCE; i++)
                    if (!(state[i] & ANNOUNCED))
                        state[i] = load_relaxed_u64(work->states + first + 32 * i);
#pragma unroll
                for (u32 i = 0; i < AT_ONCE; i++)
                    missing |= !(state[i] & ANNOUNCED);
            } while (missing);
#pragma unroll
            for (u32 i = 0; i < AT_ONCE; i++)
                sum += FROM_BITS((u32)state[i]);
        }
        before += SUM_WARP(sum);
        unseen = tile;
        if (lane == 0) {
            stage->before = before;
            barrier_arrive(&stage->known);
        }
    }
}

/* Scans a chunk of each tile and writes it. */
DEVICE void NAME(write_tiles)(const NAME(work) * work, u32 warp)
{
    u32 lane = lane_id();
    for (u32 k = 0;; k++) {
        NAME(stage) *stage = work->stages + k % STAGES;
        T4 *chunk = work->data + k % STAGES * (TILE / 4) + warp * (CHUNK / 4) + lane;
        barrier_wait(&stage->come, k / STAGES % 2);
        i64 tile = stage->tile, at = tile * TILE + warp * CHUNK + lane * 4;
        if (tile >= work->tiles)
            return;
        barrier_wait(&stage->added, k / STAGES % 2);
        T4 v[ROWS];
        T up_to[ROWS], base = SUM_WARP(lane < warp ? stage->chunk_sum[lane] : 0);
#pragma unroll
        for (u32 row = 0; row < ROWS; row++) {
            v[row] = chunk[row * 32];
            up_to[row] = SCAN_WARP((v[row].x + v[row].y) + (v[row].z + v[row].w));
        }
        barrier_wait(&stage->known, k / STAGES % 2);
        base += stage->before;
        sync_warp();
        if (lane == 0) /* all of it is in registers */
            barrier_arrive(&stage->free);
#pragma unroll
        for (u32 row = 0; row < ROWS; row++, at += 128) {
            T below = UP(up_to[row], 1);
            STORE4(work->out + at, work->n - at, work->aligned,
                   NAME(scan4)(v[row], lane ? base + below : base, work->exclusive));
            base += OF_LANE(up_to[row], 31);
        }
    }
}

KERNEL __launch_bounds__(2 * BLOCK + 64) NAME(scan)(const T *in, i64 n, T *out, u32 *ticket,
                                                    u64 *states, i32 exclusive)
{
    DYNAMIC_SHARED(memory);
    __shared__ NAME(stage) stages[STAGES];
    NAME(work) work = {in, out, n, (n + TILE - 1) / TILE, ticket, states};
    work.aligned = is_aligned(in, 16) && is_aligned(out, 16);
    work.exclusive = exclusive != 0;
    work.stages = stages;
    work.data = (T4 *)memory;
    if (thread_x() < STAGES) {
        NAME(stage) *stage = stages + thread_x();
        barrier_make(&stage->come, 1);
        barrier_make(&stage->added, WARPS);
        barrier_make(&stage->known, 1);
        barrier_make(&stage->free, WARPS);
        barrier_made();
    }
    sync_block();
    u32 warp = thread_x() / 32;
    if (warp < WARPS)
        NAME(add_tiles)(&work, warp);
    else if (warp < 2 * WARPS)
        NAME(write_tiles)(&work, warp - WARPS);
    else if (warp == 2 * WARPS)
        NAME(gather_sums)(&work);
    else if (warp_chooses_me())
        NAME(fetch_tiles)(&work);
}
#endif
