/*
 * overlapped.cu: for short inputs: two launches, of which the second overlaps the first. The first
 * sums up each tile; at the same time the second loads the same tiles and scans each by itself.
 * When the first has ended, all that is left is to add up the sums before a tile, in one go and
 * always in the same order, and to write. Every tile is read twice, at nearly the same time, but no
 * block waits for another of its own launch, and nothing has to be cleared.
 */
// arch: sm_90
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 256 512 1024
#define ROWS 2 // tune: 1 2 4 8
#define WARPS (BLOCK / 32)
#define WARP_ELEMENTS (128 * ROWS)
#define TILE ((i64)BLOCK * 4 * ROWS)
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

KERNEL __launch_bounds__(BLOCK) NAME(sum_tiles)(const T *in, i64 n, T *sums)
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
            sums[block_x()] = sum;
    }
}

/* What comes before this block's tile; every thread has a part of it. */
DEVICE T NAME(gather)(const T *sums)
{
    T sum = 0;
    for (u32 first = thread_x(); first < block_x(); first += 4 * BLOCK) {
        u32 bits[4];
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            u32 tile = first + k * BLOCK;
            bits[k] = tile < block_x() ? load_relaxed_u32((const u32 *)sums + tile) : 0;
        }
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            sum += FROM_BITS(bits[k]);
    }
    return sum;
}

KERNEL __launch_bounds__(BLOCK) NAME(scan)(const T *in, i64 n, T *out, const T *sums, i32 exclusive)
{
    __shared__ T sum_of[WARPS], seen_by[WARPS];
    u32 thread = thread_x(), warp = thread / 32, lane = thread % 32;
    bool aligned = is_aligned(in, 16) && is_aligned(out, 16);
    NAME(tile) mine;
    NAME(load_rows)(in, n, aligned, &mine);
    T sum = NAME(of_warps)(sum_of, NAME(scan_rows)(&mine));
    T before = SUM_WARP(lane < warp ? sum : 0);

    wait_for_previous();
    T seen = SUM_WARP(NAME(gather)(sums));
    before += SUM_WARP(NAME(of_warps)(seen_by, seen));
    NAME(write_rows)(&mine, out, n, block_x(), before, aligned, exclusive != 0);
}
#endif
