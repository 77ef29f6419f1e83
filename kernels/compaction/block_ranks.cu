/*
 * block_ranks.cu: three kernels: count what each block keeps, scan the counts, and let each block
 * find the ranks of its elements by a scan of their flags in shared memory, then write them: the
 * input is read twice, and each block waits at sixteen barriers.
 */
// arch: sm_75
#include "counts.h"
#define BLOCK 256 // tune: 128 256 512 1024

KERNEL write_blocks(const f32 *in, i64 n, f32 threshold, const i64 *offsets, f32 *out)
{
    __shared__ u32 ranks[2][BLOCK];
    u32 thread = thread_x(), from = 0;
    i64 i = global_thread();
    f32 mine = i < n ? in[i] : 0;
    bool keep = i < n && mine > threshold;
    ranks[0][thread] = keep;
    sync_block();
    for (u32 distance = 1; distance < BLOCK; distance *= 2) {
        u32 rank = ranks[from][thread];
        if (thread >= distance)
            rank += ranks[from][thread - distance];
        from = 1 - from;
        ranks[from][thread] = rank;
        sync_block();
    }
    if (keep)
        out[offsets[block_x()] + ranks[from][thread] - 1] = mine;
}
