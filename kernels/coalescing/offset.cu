/*
 * offset.cu: out[i] = in[i + k]. The warp's 128 bytes no longer begin on a 128-byte boundary: they
 * touch five sectors instead of four unless k is a multiple of 8, and two lines instead of one.
 * The sector at the seam is asked for twice, the second time from the L1: a small loss.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024

KERNEL __launch_bounds__(BLOCK) copy(const f32 *in, f32 *out, i64 n, i64 k)
{
    i64 i = global_thread();
    if (i < n)
        out[i] = in[i + k];
}
