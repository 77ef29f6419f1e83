/*
 * sums.h: sums that more than one variant needs. The file that includes it has defined UNROLL, the
 * 16-byte loads that a thread keeps in flight.
 */
#ifndef LOCKSTEP_AXIS_REDUCTION_SUMS_H
#define LOCKSTEP_AXIS_REDUCTION_SUMS_H

/* Over groups of `lanes` neighbours, a power of two; every lane gets its group's. */
DEVICE f32 sum_lanes(f32 sum, u32 lanes)
{
    for (u32 distance = lanes / 2; distance > 0; distance /= 2)
        sum += shuffle_xor_f32(sum, distance);
    return sum;
}

/* Thread 0 gets the whole block's. */
DEVICE f32 sum_block(f32 sum)
{
    __shared__ f32 of_warp[32];
    u32 thread = thread_x(), warps = threads_x() / 32;
    sum = sum_lanes(sum, 32);
    if (thread % 32 == 0)
        of_warp[thread / 32] = sum;
    sync_block();
    return thread < 32 ? sum_lanes(thread < warps ? of_warp[thread] : 0, 32) : 0;
}

#ifdef UNROLL
DEVICE f32x4 add_4(f32x4 a, f32x4 b)
{
    f32x4 sum = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
    return sum;
}

/* The share of thread `me` of `all` in the sum of so many neighbours: 16-byte loads between the
 * first boundary and the last, wherever they lie. */
DEVICE f32 sum_share(const f32 *at, i64 count, u32 me, u32 all)
{
    i64 head = least(count, (i64)((16 - (u64)at % 16) % 16 / 4));
    i64 vectors = (count - head) / 4;
    const f32 *body = at + head;
    f32 ends = 0;
#pragma unroll 1
    for (i64 i = me; i < head; i += all)
        ends += at[i];
#pragma unroll 1
    for (i64 i = head + vectors * 4 + me; i < count; i += all)
        ends += at[i];
    f32x4 zero = {}, sum = {ends, 0, 0, 0};
    for (i64 i = me; i < vectors; i += UNROLL * all) {
        f32x4 v[UNROLL];
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            v[k] = i + k * all < vectors ? load_stream_f32x4(body + (i + k * all) * 4) : zero;
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            sum = add_4(sum, v[k]);
    }
    return (sum.x + sum.y) + (sum.z + sum.w);
}
#endif

#endif
