/*
 * ballot_ranks.cu: a ballot tells every lane which lanes keep theirs, and the rank is a count of
 * bits: no scan and no shared memory but one count a warp.
 */
// arch: sm_75
#include "counts.h"
#define BLOCK 256 // tune: 128 256 512 1024

KERNEL write_blocks(const f32 *in, i64 n, f32 threshold, const i64 *offsets, f32 *out)
{
    __shared__ u32 kept_by[BLOCK / 32];
    u32 warp = thread_x() / 32;
    i64 i = global_thread();
    f32 mine = i < n ? in[i] : 0;
    bool keep = i < n && mine > threshold;
    u32 keepers = warp_ballot(keep);
    if (thread_x() % 32 == 0)
        kept_by[warp] = count_bits(keepers);
    sync_block();
    i64 at = offsets[block_x()] + count_bits(keepers & lanes_below());
    for (u32 other = 0; other < warp; other++)
        at += kept_by[other];
    if (keep)
        out[at] = mine;
}
