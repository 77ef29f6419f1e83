/*
 * realigned.cu: the offset copy by 16-byte accesses, which must lie on 16-byte boundaries although
 * in and out disagree about where these are. Each lane loads the aligned vector that its result
 * begins in, and gets the rest of it from the next lane's registers.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 4 8 16 32

/* Elements shift .. shift + 3 of the eight in a and b. */
DEVICE f32x4 pick(f32x4 a, f32x4 b, u32 shift)
{
    f32x4 v1 = {a.y, a.z, a.w, b.x}, v2 = {a.z, a.w, b.x, b.y}, v3 = {a.w, b.x, b.y, b.z};
    return shift == 0 ? a : shift == 1 ? v1 : shift == 2 ? v2 : v3;
}

DEVICE f32x4 from_next_lane(f32x4 v)
{
    f32x4 next = {shuffle_down_f32(v.x, 1), shuffle_down_f32(v.y, 1), shuffle_down_f32(v.z, 1),
                  shuffle_down_f32(v.w, 1)};
    return next;
}

/* out[4 j ..] = from[4 j + shift ..] for all j < vectors; from and out lie on 16-byte boundaries,
 * and from[4 * vectors ..] is there too unless shift is 0. */
DEVICE void copy_vectors(const f32 *from, f32 *out, i64 vectors, u32 shift)
{
    i64 there = vectors + (shift != 0);
    u32 lane = lane_id();
    for (i64 first = global_thread() - lane; first < vectors; first += global_threads()) {
        i64 j = first + lane;
        f32x4 v = {0, 0, 0, 0};
        if (j < there)
            v = load_f32x4(from + 4 * j);
        f32x4 next = from_next_lane(v);
        if (lane == 31 && j + 1 < there)
            next = load_f32x4(from + 4 * j + 4);
        if (j < vectors)
            store_f32x4(out + 4 * j, pick(v, next, shift));
    }
}

KERNEL __launch_bounds__(BLOCK) copy(const f32 *in, f32 *out, i64 n, i64 k)
{
    const f32 *from = in + k;
    i64 head = (i64)(((16 - ((u64)out & 15)) & 15) / 4);
    u32 shift = (u32)(((u64)(from + head) & 15) / 4);
    if (from + head - shift < in) /* the first vector would begin before in does */
        head += 4;
    /* As many as there are, and one fewer if the one behind the last would go beyond the end. */
    i64 vectors = n > head ? (n - head + shift - (shift ? 4 : 0)) / 4 : 0;
    if (vectors > 0)
        copy_vectors(from + head - shift, out + head, vectors, shift);
    i64 me = global_thread(), tail = least(n, head + 4 * vectors);
    if (me < head && me < n)
        out[me] = from[me];
    for (i64 i = tail + me; i < n; i += global_threads())
        out[i] = from[i];
}
