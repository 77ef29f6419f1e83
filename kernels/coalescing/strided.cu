/*
 * strided.cu: out[i] = in[i * k], or: one field of an array of structures. A warp's 32 words are
 * spread over k times as many sectors, up to one for each lane; the rest of what memory sends is
 * thrown away. No trick helps, since the bytes in between have to come along: the data must lie
 * differently.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024

KERNEL __launch_bounds__(BLOCK) copy(const f32 *in, f32 *out, i64 n, i64 k)
{
    i64 i = global_thread();
    if (i < n)
        out[i] = in[i * k];
}
