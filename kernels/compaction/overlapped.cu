/*
 * overlapped.cu: for short inputs, as scan/overlapped.cu: two launches, and the second overlaps the
 * first. The first counts what each tile keeps; at the same time the second loads the same tiles
 * and packs what is kept in shared memory. When the first has ended, all that is left is to add up
 * the counts before a tile and to write.
 */
// arch: sm_90
#include "select_rows.h"
#define BLOCK 256 // tune: 256 512 1024
#define ROWS 1 // tune: 1 2 4 8
#define WARPS (BLOCK / 32)
#define WARP_ELEMENTS (128 * ROWS)
#define TILE ((i64)BLOCK * 4 * ROWS)

/* One number of each warp to the same numbers in all lanes of all: lane w has warp w's, and those
 * from WARPS on have 0. A barrier; of_warp may not be written again. */
DEVICE u32 of_warps(u32 *of_warp, u32 mine)
{
    u32 thread = thread_x(), lane = thread % 32;
    if (lane == 0)
        of_warp[thread / 32] = mine;
    sync_block();
    return lane < WARPS ? of_warp[lane] : 0;
}

DEVICE i64 first_of_thread(void)
{
    return block_x() * TILE + thread_x() / 32 * WARP_ELEMENTS + thread_x() % 32 * 4;
}

/* One question for the whole tile: rows that ask each for itself may wait for each other. */
DEVICE void load_rows(const f32 *in, i64 n, f32x4 *v)
{
    i64 at = first_of_thread();
    bool aligned = is_aligned(in, 16);
    if (aligned && (block_x() + 1) * TILE <= n) {
#pragma unroll
        for (u32 row = 0; row < ROWS; row++)
            v[row] = load_four(in + at + row * 128, 4, true);
    } else {
#pragma unroll
        for (u32 row = 0; row < ROWS; row++)
            v[row] = load_four(in + at + row * 128, n - at - row * 128, aligned);
    }
}

KERNEL __launch_bounds__(BLOCK) count_tiles(const f32 *in, i64 n, f32 threshold, u32 *counts)
{
    __shared__ u32 kept_by[WARPS];
    f32x4 v[ROWS];
    i64 left = n - first_of_thread();
    u32 count = 0;
    let_next_begin();
    load_rows(in, n, v);
#pragma unroll
    for (u32 row = 0; row < ROWS; row++, left -= 128)
        count += count_bits(kept_of_four(v[row], left, threshold));
    count = of_warps(kept_by, sum_warp(count));
    if (thread_x() < 32) {
        count = sum_warp(count);
        if (thread_x() == 0)
            counts[block_x()] = count;
    }
}

/* What is kept before this block's tile; every thread has a part of it. */
DEVICE u32 gather(const u32 *counts)
{
    u32 sum = 0;
    for (u32 first = thread_x(); first < block_x(); first += 4 * BLOCK) {
        u32 count[4]; /* four in flight */
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            u32 tile = first + k * BLOCK;
            count[k] = tile < block_x() ? load_relaxed_u32(counts + tile) : 0;
        }
        sum += count[0] + count[1] + count[2] + count[3];
    }
    return sum;
}

KERNEL __launch_bounds__(BLOCK) compact(const f32 *in, i64 n, f32 threshold, f32 *out, i64 *total,
                                        const u32 *counts)
{
    DYNAMIC_SHARED(memory);
    __shared__ u32 kept_by[WARPS], seen_by[WARPS];
    u32 thread = thread_x(), warp = thread / 32, lane = thread % 32;
    f32 *kept = (f32 *)memory + warp * WARP_ELEMENTS; /* [WARP_ELEMENTS] */
    f32x4 v[ROWS];
    i64 left = n - first_of_thread();
    u32 count = 0;
    load_rows(in, n, v);
#pragma unroll
    for (u32 row = 0; row < ROWS; row++, left -= 128)
        count = keep_row(v[row], kept_of_four(v[row], left, threshold), kept, count);
    u32 others = of_warps(kept_by, count);
    u32 all = sum_warp(others), before = sum_warp(lane < warp ? others : 0);

    wait_for_previous();
    u32 seen = sum_warp(of_warps(seen_by, sum_warp(gather(counts))));
    write_kept(kept, count, out + seen + before);
    if (block_x() == blocks_x() - 1 && thread == 0)
        *total = seen + all;
}
