/*
 * counts.h: the first two of three kernels: what each block keeps, and the scan of those counts by
 * one block.
 */
#ifndef LOCKSTEP_COMPACTION_COUNTS_H
#define LOCKSTEP_COMPACTION_COUNTS_H

#include "device.h"

KERNEL count_blocks(const f32 *in, i64 n, f32 threshold, u32 *counts)
{
    i64 i = global_thread();
    u32 kept = block_count(i < n && in[i] > threshold);
    if (thread_x() == 0)
        counts[block_x()] = kept;
}

/* offsets[i]: the sum of the counts before i; *total: of all. The block is whole warps. */
KERNEL scan_counts(const u32 *counts, u32 blocks, i64 *offsets, i64 *total)
{
    __shared__ u32 warp_sum[32];
    u32 thread = thread_x(), warp = thread / 32, lane = thread % 32, warps = threads_x() / 32;
    i64 carry = 0;
    for (u32 start = 0; start < blocks; start += threads_x()) {
        u32 i = start + thread, mine = i < blocks ? counts[i] : 0, up_to = mine;
        for (u32 lanes = 1; lanes < 32; lanes *= 2) {
            u32 below = shuffle_up_u32(up_to, lanes);
            up_to += lane >= lanes ? below : 0;
        }
        sync_block();
        if (lane == 31)
            warp_sum[warp] = up_to;
        sync_block();
        i64 before = carry;
        for (u32 other = 0; other < warps; other++) {
            before += other < warp ? warp_sum[other] : 0;
            carry += warp_sum[other];
        }
        if (i < blocks)
            offsets[i] = before + up_to - mine;
    }
    if (thread == 0)
        *total = carry;
}

#endif
