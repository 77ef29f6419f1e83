/*
 * global_atomics.cu: every thread adds one to its element's counter in memory. The simplest that is
 * right. Atomics of all SMs meet in the L2; with few bins, or skewed data, they queue for the same
 * few addresses.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#include "bins.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define EACH "global_atomics.cu"
#include "each_type.h"
#else

KERNEL NAME(count)(const T *in, i64 n, u32 bins, u32 *counts)
{
    i64 i = global_thread();
    u32 bin = i < n ? NAME(bin_of)(in[i], bins) : NO_BIN;
    if (bin < bins)
        red_add_u32(&counts[bin], 1);
}
#endif
