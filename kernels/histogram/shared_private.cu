/*
 * shared_private.cu: every block counts in a copy of its own in shared memory, whose atomics take a
 * few cycles, and adds the copy to the result once at the end. Lanes that hit the same bank still
 * wait for each other, and skewed data makes all of them do so.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#include "bins.h"
#define BLOCK 512 // tune: 256 512 1024
#define BLOCKS_PER_SM 4 // tune: 1 2 4 8
#define EACH "shared_private.cu"
#include "each_type.h"
#else

KERNEL __launch_bounds__(BLOCK) NAME(count)(const T *in, i64 n, u32 bins, u32 range, u32 *counts)
{
    DYNAMIC_SHARED(memory);
    u32 *counters = (u32 *)memory; // [range]
    u32 first = first_bin(range), here = bins_here(bins, range);
    clear_counters(counters, here);
    for (i64 i = global_thread(); i < n; i += global_threads()) {
        u32 bin = NAME(bin_of)(in[i], bins) - first;
        if (bin < here)
            shared_red_add_u32(&counters[bin], 1);
    }
    add_counters(counters, here, counts + first);
}
#endif
