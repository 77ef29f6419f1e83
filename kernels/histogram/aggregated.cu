/*
 * aggregated.cu: the lanes of a warp that hold the same bin find each other by match.any, and the
 * lowest of them adds their number at once. Skewed data then costs one atomic where it cost 32;
 * even data pays for the match and gains nothing.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#include "bins.h"
#define BLOCK 512 // tune: 256 512 1024
#define BLOCKS_PER_SM 4 // tune: 1 2 4 8
#define EACH "aggregated.cu"
#include "each_type.h"
#else

KERNEL __launch_bounds__(BLOCK) NAME(count)(const T *in, i64 n, u32 bins, u32 range, u32 *counts)
{
    DYNAMIC_SHARED(memory);
    u32 *counters = (u32 *)memory; // [range]
    u32 first = first_bin(range), here = bins_here(bins, range), lane = lane_id();
    clear_counters(counters, here);
    /* A warp goes on or ends as a whole: match needs all its lanes. */
    for (i64 start = global_thread() - lane; start < n; start += global_threads()) {
        i64 i = start + lane;
        u32 bin = i < n ? NAME(bin_of)(in[i], bins) - first : NO_BIN;
        u32 same = warp_match(bin);
        if (bin < here && lane == lowest_bit(same))
            shared_red_add_u32(&counters[bin], count_bits(same));
    }
    add_counters(counters, here, counts + first);
}
#endif
