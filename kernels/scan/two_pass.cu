/*
 * two_pass.cu: reduce, then scan: a fixed grid sums its shares of the input (n bytes), one block
 * scans those sums, and the grid scans its shares with the right start (2n): 3n bytes in place of
 * 4n, with 16-byte accesses.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 4 // tune: 2 4 8
#define WARPS (BLOCK / 32)
#define TILE ((i64)BLOCK * 4)
#define EACH "two_pass.cu"
#include "each_type.h"
#else

/* A block's share: whole tiles. */
DEVICE i64 NAME(share)(i64 n)
{
    i64 tiles = (n + TILE - 1) / TILE;
    return (tiles + blocks_x() - 1) / blocks_x() * TILE;
}

/* Every thread gets the block's sum; warp_sum holds those of the warps. */
DEVICE T NAME(sum_block)(T mine, T *warp_sum)
{
    sync_block();
    mine = SUM_WARP(mine);
    if (thread_x() % 32 == 0)
        warp_sum[thread_x() / 32] = mine;
    sync_block();
    T sum = 0;
    for (u32 warp = 0; warp < WARPS; warp++)
        sum += warp_sum[warp];
    return sum;
}

KERNEL __launch_bounds__(BLOCK) NAME(sum_shares)(const T *in, i64 n, T *sums)
{
    __shared__ T warp_sum[WARPS];
    i64 share = NAME(share)(n), start = block_x() * share, end = least(start + share, n);
    bool aligned = is_aligned(in, 16);
    T sum = 0;
    for (i64 at = start + thread_x() * 4; at < end; at += TILE) {
        T4 v = LOAD4(in + at, end - at, aligned);
        sum += (v.x + v.y) + (v.z + v.w);
    }
    sum = NAME(sum_block)(sum, warp_sum);
    if (thread_x() == 0)
        sums[block_x()] = sum;
}

/* By one block: sums[i] becomes the sum of those before it. */
KERNEL __launch_bounds__(BLOCK) NAME(scan_sums)(T *sums, u32 count)
{
    __shared__ T warp_sum[WARPS];
    T carry = 0;
    for (u32 start = 0; start < count; start += BLOCK) {
        u32 i = start + thread_x(), warp = thread_x() / 32;
        T scanned = SCAN_WARP(i < count ? sums[i] : 0), below = UP(scanned, 1);
        T whole = OF_LANE(scanned, 31);
        sync_block();
        if (thread_x() % 32 == 0)
            warp_sum[warp] = whole;
        sync_block();
        T before = carry;
        for (u32 other = 0; other < WARPS; other++) {
            before += other < warp ? warp_sum[other] : 0;
            carry += warp_sum[other];
        }
        if (i < count)
            sums[i] = before + (thread_x() % 32 ? below : 0);
    }
}

KERNEL __launch_bounds__(BLOCK) NAME(scan_shares)(const T *in, i64 n, T *out, const T *sums,
                                                   i32 exclusive)
{
    __shared__ T warp_sum[2][WARPS];
    i64 share = NAME(share)(n), start = block_x() * share, end = least(start + share, n);
    bool aligned = is_aligned(in, 16) && is_aligned(out, 16);
    u32 warp = thread_x() / 32, lane = thread_x() % 32, turn = 0;
    T carry = start < n ? sums[block_x()] : 0;
    for (i64 tile = start; tile < end; tile += TILE, turn = 1 - turn) {
        i64 at = tile + thread_x() * 4;
        T4 v = LOAD4(in + at, end - at, aligned);
        T up_to = SCAN_WARP((v.x + v.y) + (v.z + v.w)), below = UP(up_to, 1);
        if (lane == 31)
            warp_sum[turn][warp] = up_to;
        sync_block();
        T before = carry;
        for (u32 other = 0; other < WARPS; other++) {
            before += other < warp ? warp_sum[turn][other] : 0;
            carry += warp_sum[turn][other];
        }
        STORE4(out + at, end - at, aligned,
               NAME(scan4)(v, lane ? before + below : before, exclusive != 0));
    }
}
#endif
