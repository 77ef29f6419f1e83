/*
 * recompute.cu: for short inputs: one launch, and no block tells another anything. Each block
 * counts what is kept before its tile itself, from the L2, and then packs the tile: more reads,
 * but nobody waits.
 */
// arch: sm_75
#include "select_rows.h"
#define BLOCK 1024 // tune: 256 512 1024
#define AHEAD 4 // tune: 1 2 4 8
#define WARPS (BLOCK / 32)
#define TILE ((i64)BLOCK * 4)

KERNEL __launch_bounds__(BLOCK) compact(const f32 *in, i64 n, f32 threshold, f32 *out, i64 *total)
{
    __shared__ f32 kept[WARPS][128];
    __shared__ u32 before_of[WARPS], kept_by[WARPS];
    u32 thread = thread_x(), warp = thread / 32, lane = thread % 32, before = 0;
    i64 start = block_x() * TILE, at = start + thread * 4;
    bool aligned = is_aligned(in, 16);
    f32x4 v = load_four(in + at, n - at, aligned);
    for (i64 i = thread * 4; i < start; i += AHEAD * TILE) {
        f32x4 x[AHEAD];
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++)
            x[k] = load_four(in + i + k * TILE, start - (i + k * TILE), aligned);
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++)
            before += count_bits(kept_of_four(x[k], start - (i + k * TILE), threshold));
    }
    u32 count = keep_row(v, kept_of_four(v, n - at, threshold), kept[warp], 0);
    before = sum_warp(before);
    if (lane == 0) {
        before_of[warp] = before;
        kept_by[warp] = count;
    }
    sync_block();
    u32 here = lane < WARPS ? kept_by[lane] : 0, above = lane < WARPS ? before_of[lane] : 0;
    u32 first = sum_warp(above + (lane < warp ? here : 0)), all = sum_warp(above + here);
    write_kept(kept[warp], count, out + first);
    if (thread == 0 && block_x() == blocks_x() - 1)
        *total = all;
}
