/*
 * overlapped.cu: for short inputs, all of whose tiles are on the GPU at once: block b has tile b,
 * and needs no ticket. The launch overlaps the one before it, which clears the states: while that
 * comes and goes, every block loads its tile and scans it by itself. Then each tells its sum to all
 * and adds up the sums of all tiles before it, in one go and always in the same order. What is left
 * after the first launch's end is one exchange through the L2 and the writing.
 *
 * With SUMS_FIRST the first launch sums up the tiles in place of clearing: every tile is read
 * twice, at nearly the same time, and nobody waits for anybody within the second launch.
 */
// arch: sm_90
#ifndef EACH
#define LETS_NEXT_BEGIN
#include "clear.h"
#include "tell_all.h"
#define BLOCK 256 // tune: 256 512 1024
#define ROWS 4 // tune: 1 2 4 8
#define SUMS_FIRST 0 // tune: 0 1
#define WARPS (BLOCK / 32)
#define WARP_ELEMENTS (128 * ROWS)
#define TILE ((i64)BLOCK * 4 * ROWS)
#define BLOCKS_PER_SM (1024 / BLOCK) /* what one_pass_all_at_once counts on */
#define EACH "overlapped.cu"
#include "each_type.h"
#else
#include "tile_rows.h"

/* One question for the whole tile: rows that ask each for itself may wait for each other. */
DEVICE void NAME(load_rows)(const T *in, i64 n, bool aligned, NAME(tile) * mine)
{
    i64 at = NAME(first_of)(block_x());
    if (aligned && (block_x() + 1) * TILE <= n) {
#pragma unroll
        for (u32 row = 0; row < ROWS; row++)
            mine->row[row] = LOAD4(in + at + row * 128, 4, true);
    } else {
#pragma unroll
        for (u32 row = 0; row < ROWS; row++)
            mine->row[row] = LOAD4(in + at + row * 128, n - at - row * 128, aligned);
    }
}

/* One number of each warp to the same numbers in all lanes of all: lane w has warp w's, and those
 * from WARPS on have 0. A barrier; of_warp may not be written again. */
DEVICE T NAME(of_warps)(T *of_warp, T mine)
{
    u32 thread = thread_x(), lane = thread % 32;
    if (lane == 0)
        of_warp[thread / 32] = mine;
    sync_block();
    return lane < WARPS ? of_warp[lane] : 0;
}

KERNEL __launch_bounds__(BLOCK, BLOCKS_PER_SM) NAME(sum_tiles)(const T *in, i64 n, u64 *states)
{
    __shared__ T sum_of[WARPS];
    NAME(tile) mine;
    T sum = 0;
    let_next_begin();
    NAME(load_rows)(in, n, is_aligned(in, 16), &mine);
#pragma unroll
    for (u32 row = 0; row < ROWS; row++)
        sum += (mine.row[row].x + mine.row[row].y) + (mine.row[row].z + mine.row[row].w);
    sum = NAME(of_warps)(sum_of, SUM_WARP(sum));
    if (thread_x() < 32) {
        sum = SUM_WARP(sum);
        if (thread_x() == 0)
            tell_all(states, block_x(), BITS(sum));
    }
}

/* What comes before this block's tile; every thread has a part of it. */
DEVICE T NAME(gather)(const u64 *states)
{
    T sum = 0;
    for (u32 first = thread_x(); first < block_x(); first += 4 * BLOCK) {
        u32 bits[4];
        ask_four(states, first, BLOCK, block_x(), bits);
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            sum += FROM_BITS(bits[k]);
    }
    return sum;
}

KERNEL __launch_bounds__(BLOCK, BLOCKS_PER_SM) NAME(scan)(const T *in, i64 n, T *out, u64 *states,
                                                          i32 exclusive)
{
    __shared__ T sum_of[WARPS], seen_by[WARPS];
    u32 thread = thread_x(), warp = thread / 32, lane = thread % 32;
    bool aligned = is_aligned(in, 16) && is_aligned(out, 16);
    NAME(tile) mine;
    NAME(load_rows)(in, n, aligned, &mine);
    T sum = NAME(of_warps)(sum_of, NAME(scan_rows)(&mine));
    T all = SUM_WARP(sum), before = SUM_WARP(lane < warp ? sum : 0);

    wait_for_previous();
    if (!SUMS_FIRST && thread == 0)
        tell_all(states, block_x(), BITS(all));
    T seen = SUM_WARP(NAME(gather)(states));
    before += SUM_WARP(NAME(of_warps)(seen_by, seen));
    NAME(write_rows)(&mine, out, n, block_x(), before, aligned, exclusive != 0);
}
#endif
