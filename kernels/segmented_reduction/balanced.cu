/*
 * balanced.cu: every thread gets the same number of items, an item being a value or the end of a
 * segment, in the order in which one walk over the values meets them. No lengths, however skewed,
 * and no number of empty segments make a thread wait for another. A block fetches a tile of items
 * into shared memory side by side, its threads walk their parts of it, and sums that go on beyond a
 * thread, a tile or a block are carried; the blocks' carries are added by a second kernel in order.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256
#define ITEMS 15 // tune: 7 11 15 19
#define RESIDENT 5 // tune: 3 4 5 6 8
#define TILE (BLOCK * ITEMS)
#define WARPS (BLOCK / 32)
#define NEVER 0xffffffffu

/* ITEMS is odd: threads that walk values alone then start in different banks. */

struct problem {
    const f32 *values;
    const i32 *ends; // [segments], of each segment: where the next begins
    i64 n, segments;
    f32 *out;
};

/* How many ends are among the first `items` items, if it is from low to high. All threads of a
 * block try places at a time. An end comes before the value of its number. */
DEVICE i64 ends_before(const struct problem *p, i64 items, i64 low, i64 high)
{
    low = low > items - p->n ? low : items - p->n;
    high = least(high, least(items, p->segments));
    while (low < high) {
        i64 step = (high - low + BLOCK - 1) / BLOCK, place = low + thread_x() * step;
        u32 yes = block_count(place < high && p->ends[place] <= items - 1 - place);
        high = least(high, low + yes * step);
        low = yes ? low + (yes - 1) * step + 1 : high;
    }
    return low;
}

/* Items [value, value + values) and [end, end + ends), TILE of them or less, to shared memory. */
struct tile {
    i64 value, end;
    u32 values, ends;
};

DEVICE void fetch(const struct problem *p, struct tile t, u32 *items)
{
    u32 v[ITEMS], thread = thread_x();
    const u32 *value = (const u32 *)p->values + t.value + thread;
    const u32 *end = (const u32 *)p->ends + t.end - t.values + thread;
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        u32 i = thread + k * BLOCK;
        const u32 *at = (i < t.values ? value : end) + k * BLOCK;
        v[k] = i < t.values + t.ends ? load_stream_u32(at) : 0;
    }
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++)
        items[thread + k * BLOCK] = v[k];
}

/* As ends_before, by one thread, of items in shared memory. */
DEVICE u32 local_ends_before(const u32 *ends, struct tile t, u32 items)
{
    u32 low = items > t.values ? items - t.values : 0, high = (u32)least(items, t.ends);
    while (low < high) {
        u32 middle = (low + high) / 2;
        if ((i64)ends[middle] - t.value <= (i64)items - 1 - middle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What a thread's walk leaves: the sum up to the first end that it meets, which others may have
 * begun, and the sum behind its last end. */
struct walk {
    bool met; /* an end */
    i64 first;
    f32 until_first, behind_last;
};

DEVICE struct walk walk_items(const struct problem *p, const u32 *items, struct tile t)
{
    const u32 *values = items, *ends = items + t.values;
    u32 from = thread_x() * ITEMS, to = (u32)least(from + ITEMS, t.values + t.ends);
    struct walk w = {false, 0, 0, 0};
    if (from >= to)
        return w;
    u32 end = local_ends_before(ends, t, from), value = from - end;
    u32 stop = end < t.ends ? ends[end] - (u32)t.value : NEVER; /* the value before which it ends */
#pragma unroll
    for (u32 i = 0; i < ITEMS; i++) {
        if (from + i < to && stop <= value) {
            if (w.met)
                p->out[t.end + end] = w.behind_last;
            else
                w.until_first = w.behind_last;
            w.first = w.met ? w.first : t.end + end;
            w.met = true;
            w.behind_last = 0;
            end++;
            stop = end < t.ends ? ends[end] - (u32)t.value : NEVER;
        } else if (from + i < to) {
            w.behind_last += f32_from_bits(values[value++]);
        }
    }
    return w;
}

/* Sums that go on from thread to thread, up to and without this one, from carry on; the block's at
 * the end comes back in carry. A thread that met an end begins anew. */
DEVICE f32 carried_in(struct walk w, f32 *carry)
{
    __shared__ f32 sums[WARPS];
    __shared__ u32 met[WARPS];
    u32 lane = lane_id(), warp = thread_x() / 32, lanes_met = warp_ballot(w.met);
    f32 sum = w.behind_last;
    for (u32 distance = 1; distance < 32; distance *= 2) {
        f32 below = shuffle_up_f32(sum, distance);
        u32 between =
            lane >= distance ? lanes_met >> (lane - distance + 1) & ((1u << distance) - 1) : 1;
        sum = between ? sum : below + sum;
    }
    if (lane == 31) {
        sums[warp] = sum;
        met[warp] = lanes_met != 0;
    }
    f32 in = shuffle_up_f32(sum, 1);
    sync_block();
    f32 before = *carry, after = *carry;
    for (u32 k = 0; k < WARPS; k++) {
        before = k == warp ? after : before;
        after = met[k] ? sums[k] : after + sums[k];
    }
    *carry = after;
    if (lane == 0)
        return before;
    return lanes_met & lanes_below() ? in : before + in;
}

/* Tiles [block_x() * tiles, ..) of them; carry_to[block] and carry[block]: a segment, and what it
 * gets besides from this block. */
KERNEL __launch_bounds__(BLOCK, RESIDENT)
    reduce(const f32 *values, const i32 *offsets, i64 n, i64 segments, i64 tiles, f32 *out,
           i64 *carry_to, f32 *carries)
{
    __shared__ u32 items[TILE];
    struct problem p = {values, offsets + 1, n, segments, out};
    i64 item = block_x() * tiles * TILE, last = least(item + tiles * TILE, n + segments);
    i64 end = ends_before(&p, item, 0, segments);
    f32 carry = 0;
    for (; item < last; item += TILE) {
        i64 next = least(item + TILE, last), next_end = ends_before(&p, next, end, end + TILE);
        struct tile t = {item - end, end, (u32)(next - next_end - (item - end)),
                         (u32)(next_end - end)};
        fetch(&p, t, items);
        sync_block();
        struct walk w = walk_items(&p, items, t);
        f32 in = carried_in(w, &carry);
        if (w.met)
            out[w.first] = in + w.until_first;
        end = next_end;
        sync_block();
    }
    if (thread_x() == 0 && carries) {
        carry_to[block_x()] = end;
        carries[block_x()] = carry;
    }
}

/* A warp for each block that was the first to carry into its segment. */
KERNEL __launch_bounds__(BLOCK)
    add_carries(const i64 *carry_to, const f32 *carries, u32 count, i64 segments, f32 *out)
{
    u32 first = (u32)(global_thread() / 32);
    if (first >= count || carry_to[first] >= segments ||
        (first > 0 && carry_to[first - 1] == carry_to[first]))
        return;
    i64 segment = carry_to[first];
    f32 sum = 0;
    for (u32 i = first + lane_id(); i < count && carry_to[i] == segment; i += 32)
        sum += carries[i];
    for (u32 distance = 16; distance > 0; distance /= 2)
        sum += shuffle_down_f32(sum, distance);
    if (lane_id() == 0)
        out[segment] = sum + out[segment];
}
