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

/* Where a block counts; counts begins with its first bin. */
struct place {
    u32 base, first, here, bins;
    u32 *counts;
};

DEVICE void count_one(f32 x, struct place p)
{
    u32 bin = bin_of_f32(x, p.bins) - p.first;
    if (bin >= p.here)
        return;
    u32 address = p.base + bin / 2 * 4, shift = bin % 2 * 16;
    u32 old = shared_add_at(address, 1u << shift);
    if ((old >> shift & 0xffffu) == FULL - 1) {
        shared_red_add_at(address, 0u - (FULL << shift));
        red_add_u32(&p.counts[bin], FULL);
    }
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

DEVICE void count_round(const f32x4 *v, struct place p)
{
#pragma unroll
    for (u32 k = 0; k < UNROLL; k++) {
        count_one(v[k].x, p);
        count_one(v[k].y, p);
        count_one(v[k].z, p);
        count_one(v[k].w, p);
    }
}

KERNEL __launch_bounds__(BLOCK) count_f32(const f32 *in, i64 n, u32 bins, u32 range, u32 *counts)
{
    DYNAMIC_SHARED(memory);
    u32 *counters = (u32 *)memory; // [(here + 1) / 2], the even bin in the lower half
    u32 first = first_bin(range), here = bins_here(bins, range);
    struct place p = {shared_address(counters), first, here, bins, counts + first};
    clear_counters(counters, (here + 1) / 2);

    i64 head = least(n, (i64)((16 - (u64)in % 16) % 16 / 4)), me = global_thread();
    i64 vectors = (n - head) / 4, tail = head + vectors * 4;
    if (me < head)
        count_one(in[me], p);
    if (me < n - tail)
        count_one(in[tail + me], p);
    sync_block();

    f32x4 now[UNROLL], next[UNROLL];
    i64 round = BLOCK * UNROLL, i = block_x() * round, step = blocks_x() * round;
    load_round(in + head, i, vectors, now);
    for (; i < vectors; i += step) {
        load_round(in + head, i + step, vectors, next);
        count_round(now, p);
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
