/*
 * warp_private.cu: a copy for each warp, or for as many groups of warps as shared memory has room
 * for, so that warps no longer meet at a counter. What the lanes of one warp do to each other
 * stays, and large copies leave room for fewer blocks.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#include "bins.h"
#define BLOCK 256 // tune: 128 256 512
#define BLOCKS_PER_SM 4 // tune: 1 2 4 8
#define SHARED_KB 48 // tune: 16 32 48 64
#define EACH "warp_private.cu"
#include "each_type.h"
#else

/* copies[0] becomes the sum of all. */
DEVICE void NAME(sum_copies)(u32 *counters, u32 here, u32 copies)
{
    sync_block();
    for (u32 bin = thread_x(); bin < here; bin += threads_x()) {
        u32 sum = 0;
        for (u32 copy = 0; copy < copies; copy++)
            sum += counters[copy * here + bin];
        counters[bin] = sum;
    }
}

KERNEL __launch_bounds__(BLOCK)
    NAME(count)(const T *in, i64 n, u32 bins, u32 range, u32 copies, u32 *counts)
{
    DYNAMIC_SHARED(memory);
    u32 *counters = (u32 *)memory; // [copies][here]
    u32 first = first_bin(range), here = bins_here(bins, range);
    u32 *mine = counters + thread_x() / 32 % copies * here;
    clear_counters(counters, copies * here);
    for (i64 i = global_thread(); i < n; i += global_threads()) {
        u32 bin = NAME(bin_of)(in[i], bins) - first;
        if (bin < here)
            shared_red_add_u32(&mine[bin], 1);
    }
    NAME(sum_copies)(counters, here, copies);
    add_counters(counters, here, counts + first);
}
#endif
