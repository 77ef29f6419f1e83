/*
 * soa.cu: the same from a structure of arrays: each field is an array of its own, and a thread's
 * fields are n apart. Every request is 32 neighbours, whatever k is, and a kernel that wants one
 * field reads one field. The layout did what no kernel could.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024

KERNEL __launch_bounds__(BLOCK) copy(const f32 *in, f32 *out, i64 n, i64 k)
{
    i64 i = global_thread();
    if (i < n)
        for (i64 field = 0; field < k; field++)
            out[field * n + i] = in[field * n + i];
}
