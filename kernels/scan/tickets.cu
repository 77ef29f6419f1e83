/*
 * tickets.cu: one pass, 2n bytes, at the memory's limit. Blocks stay and take tiles by tickets, so
 * that a fast SM takes more of them; STAGES tickets are taken ahead and their tiles fetched by
 * cp.async. A tile is scanned by itself when it arrives and its sum announced at once, before the
 * block asks for anybody else's; then it turns to the tile before, adds up the sums announced since
 * its own last tile (a few hundred, read together), and writes. No sum waits for another. The first
 * STAGES tiles of each block are given: all blocks are there at once (a cooperative launch).
 */
// arch: sm_80
#ifndef EACH
#include "clear.h"
#define BLOCK 512 // tune: 256 512 1024
#define ROWS 8 // tune: 2 4 8
#define STAGES 2 // tune: 2 3 4
#define WARPS (BLOCK / 32)
#define WARP_ELEMENTS (128 * ROWS)
#define TILE ((i64)BLOCK * 4 * ROWS)
#define ANNOUNCED (1ull << 32) /* above the bits of a tile's sum */
#define EACH "tickets.cu"
#include "each_type.h"
#else
#include "tile_rows.h"

/* Each thread copies what it will scan itself, so that the data need no barrier. */
DEVICE void NAME(fetch)(const T *in, i64 n, i64 tile, T4 *stage, bool aligned)
{
    i64 at = NAME(first_of)(tile);
#pragma unroll
    for (u32 row = 0; row < ROWS; row++, at += 128) {
        i64 left = n - at;
        u32 bytes = left >= 4 ? 16 : left > 0 ? (u32)left * 4 : 0;
        if (aligned)
            copy_async_16(stage + row * BLOCK, bytes ? in + at : in, bytes);
        else
            stage[row * BLOCK] = LOAD4(in + at, left, false);
    }
    copy_async_commit();
}

/* Scans the warp's rows; returns their sum. */
DEVICE T NAME(scan_alone)(const T4 *stage, NAME(tile) * tile)
{
#pragma unroll
    for (u32 row = 0; row < ROWS; row++)
        tile->row[row] = stage[row * BLOCK];
    return NAME(scan_rows)(tile);
}

/* By warp 0: what comes before each warp, and the tile's sum to everybody. */
DEVICE void NAME(announce)(u64 *states, i64 tile, i64 tiles, const T *warp_sum, T *warp_before)
{
    u32 lane = thread_x();
    T scanned = SCAN_WARP(lane < WARPS ? warp_sum[lane] : 0), below = UP(scanned, 1);
    if (lane < WARPS)
        warp_before[lane] = lane ? below : 0;
    if (lane == 31) {
        warp_before[WARPS] = scanned;
        if (tile < tiles)
            store_relaxed_u64(states + tile, ANNOUNCED | BITS(scanned));
    }
}

/* The sums of the tiles from first on up to this one; every thread has a part of it. */
DEVICE T NAME(gather)(const u64 *states, i64 first, i64 tile)
{
    T sum = 0;
    for (i64 other = first + thread_x(); other < tile; other += BLOCK) {
        u64 state;
        do
            state = load_relaxed_u64(states + other);
        while (!(state & ANNOUNCED));
        sum += FROM_BITS((u32)state);
    }
    return sum;
}

KERNEL __launch_bounds__(BLOCK) NAME(scan)(const T *in, i64 n, T *out, u32 *ticket, u64 *states,
                                            i32 exclusive)
{
    DYNAMIC_SHARED(memory);
    __shared__ T warp_sum[2][WARPS], warp_before[2][WARPS + 1], gathered[2][WARPS];
    __shared__ u32 taken[STAGES + 1];
    u32 thread = thread_x(), warp = thread / 32;
    i64 tiles = (n + TILE - 1) / TILE, next_unseen = 0;
    bool aligned = is_aligned(in, 16) && is_aligned(out, 16);
    T4 *staged = (T4 *)memory + thread; /* [STAGES][ROWS][BLOCK] */
    NAME(tile) now, next;
    T before = 0; /* everything before next_unseen */

    if (thread < STAGES)
        taken[thread] = thread * blocks_x() + block_x();
    sync_block();
    for (u32 i = 0; i < STAGES; i++)
        NAME(fetch)(in, n, taken[i], staged + i * ROWS * BLOCK, aligned);
    copy_async_wait(STAGES - 1);
    T sum = NAME(scan_alone)(staged, &now);
    if (thread % 32 == 0)
        warp_sum[0][warp] = sum;
    sync_block();
    if (warp == 0)
        NAME(announce)(states, taken[0], tiles, warp_sum[0], warp_before[0]);
    i64 tile = taken[0];

    for (u32 turn = 0; tile < tiles; turn++) {
        u32 even = turn % 2, odd = 1 - even;
        u32 free_slot = (turn + STAGES) % (STAGES + 1), stage = (turn + 1) % STAGES;
        /* The stage that 'now' came from is free: its thread has it in registers. */
        u32 freed = turn % STAGES;
        copy_async_wait(STAGES - 2);
        i64 following = taken[(turn + 1) % (STAGES + 1)];
        sum = NAME(scan_alone)(staged + stage * ROWS * BLOCK, &next);
        if (thread % 32 == 0)
            warp_sum[odd][warp] = sum;
        if (thread == 0)
            taken[free_slot] = STAGES * blocks_x() + atomic_add_u32(ticket, 1);
        sync_block();
        /* First tell, then ask: nobody's sum waits for anybody else's. */
        if (warp == 0)
            NAME(announce)(states, following, tiles, warp_sum[odd], warp_before[odd]);
        T seen = SUM_WARP(NAME(gather)(states, next_unseen, tile));
        if (thread % 32 == 0)
            gathered[even][warp] = seen;
        sync_block();
        NAME(fetch)(in, n, taken[free_slot], staged + freed * ROWS * BLOCK, aligned);
        for (u32 other = 0; other < WARPS; other++)
            before += gathered[even][other];
        NAME(write_rows)(&now, out, n, tile, before + warp_before[even][warp], aligned,
                         exclusive != 0);
        before += warp_before[even][WARPS];
        next_unseen = tile + 1;
        tile = following;
        now = next;
    }
    copy_async_wait(0);
}
#endif
