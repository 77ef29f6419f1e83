/*
 * packed.cu: 16-bit counters, two in a word, for the bins that are too many for shared memory
 * otherwise: 65536 of them take 128 KiB. The atomic gives the old value back; whoever brings a
 * counter to 2^15 moves that much to the result in memory. Between two barriers a block counts less
 * than 2^15 elements, so that no counter runs over meanwhile. The next loads are under way while
 * this round is counted.
 */
// arch: sm_75
#include "device.h"
#include "bins.h"
#define BLOCK 1024 // tune: 512 1024
#define UNROLL 4 // tune: 2 4
#define FULL 0x8000u

/* Where a block counts. What does not count goes to bin `none`, one more than there are. */
struct place {
    u32 base, first, none;
    f32 bins, low, high; /* all of them, and the block's range */
    u32 *counts; /* from the block's first bin on */
};

DEVICE u32 bin_here(f32 x, struct place p)
{
    f32 product = x * p.bins;
    return is_within(product, p.low, p.high) ? u32_from_f32(product) - p.first : p.none;
}
DEVICE u32 address_of(u32 bin, struct place p)
{
    return p.base + bin / 2 * 4;
}
DEVICE u32 shift_of(u32 bin)
{
    return bin % 2 * 16;
}

/* The counter that reached FULL by this gives it to the result. */
DEVICE void move_full(u32 bin, struct place p)
{
    shared_red_add_at(address_of(bin, p), 0u - (FULL << shift_of(bin)));
    if (bin != p.none)
        red_add_u32(&p.counts[bin], FULL);
}

/* Four atomics under way before the first answer is looked at. */
DEVICE void count_four(f32x4 v, struct place p)
{
    u32 bin[4] = {bin_here(v.x, p), bin_here(v.y, p), bin_here(v.z, p), bin_here(v.w, p)};
    u32 old[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++)
        old[k] = shared_add_at(address_of(bin[k], p), 1u << shift_of(bin[k]));
#pragma unroll
    for (u32 k = 0; k < 4; k++)
        if ((old[k] >> shift_of(bin[k]) & 0xffffu) == FULL - 1)
            move_full(bin[k], p);
}

/* A round is UNROLL vectors of each thread of the block; what lies behind the end is NaN. */
DEVICE void load_round(const f32 *body, i64 start, i64 vectors, f32x4 *v)
{
    f32 nan = f32_from_bits(0x7fffffffu);
#pragma unroll
    for (u32 k = 0; k < UNROLL; k++) {
        i64 i = start + k * BLOCK + thread_x();
        f32x4 none = {nan, nan, nan, nan};
        v[k] = i < vectors ? load_stream_f32x4(body + i * 4) : none;
    }
}

KERNEL __launch_bounds__(BLOCK) count_f32(const f32 *in, i64 n, u32 bins, u32 range, u32 *counts)
{
    DYNAMIC_SHARED(memory);
    u32 *counters = (u32 *)memory; // [here / 2 + 1], the even bin in the lower half
    u32 first = first_bin(range), here = bins_here(bins, range);
    struct place p = {shared_address(counters), first,         here, (f32)bins, (f32)first,
                      (f32)(first + here),      counts + first};
    clear_counters(counters, here / 2 + 1);

    i64 head = least(n, (i64)((16 - (u64)in % 16) % 16 / 4)), me = global_thread();
    i64 vectors = (n - head) / 4, tail = head + vectors * 4;
    f32 nan = f32_from_bits(0x7fffffffu);
    f32x4 ends = {me < head ? in[me] : nan, me < n - tail ? in[tail + me] : nan, nan, nan};
    if (me < 4)
        count_four(ends, p);
    sync_block();

    f32x4 now[UNROLL], next[UNROLL];
    i64 round = BLOCK * UNROLL, i = block_x() * round, step = blocks_x() * round;
    load_round(in + head, i, vectors, now);
    for (; i < vectors; i += step) {
        load_round(in + head, i + step, vectors, next);
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            count_four(now[k], p);
        sync_block();
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            now[k] = next[k];
    }
    for (u32 bin = thread_x(); bin < here; bin += BLOCK) {
        u32 count = counters[bin / 2] >> bin % 2 * 16 & 0xffffu;
        if (count)
            red_add_u32(&p.counts[bin], count);
    }
}
