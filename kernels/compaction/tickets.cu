/*
 * tickets.cu: one pass at the memory's limit, as scan/tickets.cu: blocks stay and take tiles by
 * tickets, STAGES of them ahead, fetched by cp.async. A tile is packed where it lies when it
 * arrives and its count announced at once; then the block turns to the tile before, adds up the
 * counts that were announced since its own last tile, and writes what is packed. The first STAGES
 * tiles of each block are given: all blocks are there at once (a cooperative launch).
 */
// arch: sm_80
#include "clear.h"
#include "select_rows.h"
#define BLOCK 256 // tune: 256 512 1024
#define ROWS 8 // tune: 2 4 8
#define STAGES 2 // tune: 2 3 4
#define WARPS (BLOCK / 32)
#define WARP_ELEMENTS (128 * ROWS)
#define TILE ((i64)BLOCK * 4 * ROWS)
#define ANNOUNCED (1ull << 32) /* above the bits of a tile's count */

/* Where this warp's rows begin in the input. */
DEVICE i64 first_of(i64 tile)
{
    return tile * TILE + thread_x() / 32 * WARP_ELEMENTS;
}

/* stage: this warp's, [WARP_ELEMENTS] */
DEVICE void fetch(const f32 *in, i64 n, i64 tile, f32 *stage, bool aligned)
{
    i64 at = first_of(tile) + thread_x() % 32 * 4;
    stage += thread_x() % 32 * 4;
#pragma unroll
    for (u32 row = 0; row < ROWS; row++, at += 128, stage += 128) {
        i64 left = n - at;
        u32 bytes = left >= 4 ? 16 : left > 0 ? (u32)left * 4 : 0;
        if (aligned) {
            copy_async_16(stage, bytes ? in + at : in, bytes);
        } else {
            for (u32 k = 0; k < 4; k++)
                stage[k] = k < left ? in[at + k] : 0;
        }
    }
    copy_async_commit();
}

/* Packs the warp's rows where they lie; returns how many it keeps. */
DEVICE u32 pack(f32 *stage, i64 left, f32 threshold)
{
    u32 count = 0;
    left -= thread_x() % 32 * 4;
#pragma unroll
    for (u32 row = 0; row < ROWS; row++, left -= 128) {
        f32x4 v = load_f32x4(stage + row * 128 + thread_x() % 32 * 4);
        count = keep_row(v, kept_of_four(v, left, threshold), stage, count);
    }
    return count;
}

/* By warp 0: what comes before each warp, and the tile's count to everybody. */
DEVICE void announce(u64 *states, i64 tile, i64 tiles, const u32 *kept_by, u32 *warp_before)
{
    u32 lane = thread_x(), mine = lane < WARPS ? kept_by[lane] : 0, up_to = mine;
    for (u32 lanes = 1; lanes < 32; lanes *= 2) {
        u32 below = shuffle_up_u32(up_to, lanes);
        up_to += lane >= lanes ? below : 0;
    }
    if (lane < WARPS)
        warp_before[lane] = up_to - mine;
    if (lane == 31) {
        warp_before[WARPS] = up_to;
        if (tile < tiles)
            store_relaxed_u64(states + tile, ANNOUNCED | up_to);
    }
}

/* The counts of the tiles from first on up to this one, of the whole warp's share. */
DEVICE u32 gather(const u64 *states, i64 first, i64 tile)
{
    u32 sum = 0;
    for (i64 other = first + thread_x(); other < tile; other += BLOCK) {
        u64 state;
        do
            state = load_relaxed_u64(states + other);
        while (!(state & ANNOUNCED));
        sum += (u32)state;
    }
    return sum_warp(sum);
}

KERNEL __launch_bounds__(BLOCK) compact(const f32 *in, i64 n, f32 threshold, f32 *out, i64 *total,
                                        u32 *ticket, u64 *states)
{
    DYNAMIC_SHARED(memory);
    __shared__ u32 kept_by[2][WARPS], warp_before[2][WARPS + 1], gathered[2][WARPS];
    __shared__ u32 taken[STAGES + 1];
    u32 thread = thread_x(), warp = thread / 32;
    i64 tiles = (n + TILE - 1) / TILE, next_unseen = 0, before = 0;
    bool aligned = is_aligned(in, 16);
    f32 *staged = (f32 *)memory + warp * WARP_ELEMENTS; /* [STAGES][TILE] */

    if (thread < STAGES)
        taken[thread] = thread * blocks_x() + block_x();
    sync_block();
    for (u32 i = 0; i < STAGES; i++)
        fetch(in, n, taken[i], staged + i * TILE, aligned);
    copy_async_wait(STAGES - 1);
    sync_warp();
    i64 tile = taken[0];
    u32 count = pack(staged, n - first_of(tile), threshold), next_count;
    if (thread % 32 == 0)
        kept_by[0][warp] = count;
    sync_block();
    if (warp == 0)
        announce(states, tile, tiles, kept_by[0], warp_before[0]);

    for (u32 turn = 0; tile < tiles; turn++) {
        u32 even = turn % 2, odd = 1 - even, free_slot = (turn + STAGES) % (STAGES + 1);
        f32 *this_stage = staged + turn % STAGES * TILE;
        i64 following = taken[(turn + 1) % (STAGES + 1)];
        copy_async_wait(STAGES - 2);
        sync_warp();
        next_count =
            pack(staged + (turn + 1) % STAGES * TILE, n - first_of(following), threshold);
        if (thread % 32 == 0)
            kept_by[odd][warp] = next_count;
        if (thread == 0)
            taken[free_slot] = STAGES * blocks_x() + atomic_add_u32(ticket, 1);
        sync_block();
        /* First tell, then ask: nobody's count waits for anybody else's. */
        if (warp == 0)
            announce(states, following, tiles, kept_by[odd], warp_before[odd]);
        u32 seen = gather(states, next_unseen, tile);
        if (thread % 32 == 0)
            gathered[even][warp] = seen;
        sync_block();
        for (u32 other = 0; other < WARPS; other++)
            before += gathered[even][other];
        write_kept(this_stage, count, out + before + warp_before[even][warp]);
        fetch(in, n, taken[free_slot], this_stage, aligned);
        before += warp_before[even][WARPS];
        if (tile == tiles - 1 && thread == 0)
            *total = before;
        next_unseen = tile + 1;
        tile = following;
        count = next_count;
    }
    copy_async_wait(0);
}
