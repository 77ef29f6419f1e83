/*
 * warp_scan.cu: the scan within registers: five shuffles a warp, then one warp scans the sums of
 * the warps. Two barriers in place of sixteen, and next to no shared memory.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define EACH "warp_scan.cu"
#include "each_type.h"
#else

KERNEL NAME(scan_blocks)(const T *in, i64 n, T *out, T *sums, i32 exclusive)
{
    __shared__ T warp_sum[32];
    u32 thread = thread_x(), warp = thread / 32, lane = thread % 32;
    i64 i = global_thread();
    T scanned = SCAN_WARP(i < n ? in[i] : 0), below = UP(scanned, 1);
    if (lane == 31)
        warp_sum[warp] = scanned;
    sync_block();
    if (warp == 0) {
        T up_to = SCAN_WARP(lane < BLOCK / 32 ? warp_sum[lane] : 0);
        warp_sum[lane] = up_to;
        if (lane == 31)
            sums[block_x()] = up_to;
    }
    sync_block();
    T before = warp ? warp_sum[warp - 1] : 0;
    if (i < n)
        out[i] = before + (!exclusive ? scanned : lane ? below : 0);
}
#include "add_sums.h"
#endif
