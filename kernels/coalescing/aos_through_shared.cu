/*
 * aos_through_shared.cu: the block's structures are one stretch of memory, whatever is in them.
 * It is loaded as such, coalesced, into shared memory, where a stride costs bank conflicts at most;
 * and a word left out after every 32 takes these away where k is a power of two.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512

/* With an odd k the 32 lanes meet 32 banks as it is. */
DEVICE u32 place(u32 i, u32 k)
{
    return k % 2 ? i : i + i / 32;
}

KERNEL __launch_bounds__(BLOCK) copy(const f32 *in, f32 *out, i64 n, i64 k)
{
    DYNAMIC_SHARED(bytes);
    f32 *tile = (f32 *)bytes;
    i64 first = (i64)block_x() * BLOCK;
    u32 here = (u32)least(BLOCK, n - first), fields = (u32)k, me = thread_x();
#pragma unroll 4
    for (u32 i = me; i < here * fields; i += BLOCK)
        tile[place(i, fields)] = in[first * k + i];
    sync_block();
    if (me < here)
        for (u32 field = 0; field < fields; field++)
            out[field * n + first + me] = tile[place(me * fields + field, fields)];
}
