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

// ITEMS is odd, so that threads that walk values alone start in different banks.

struct problem {
    const float *values;
    const int *ends; // [segments], of each segment: where the next begins
    long long n, segments;
    float *out;
};

/* How many ends are among the first `items` items; the answer is known to lie between low and high.
 * All threads of a block try places at the same time. An end comes before the value whose number it
 * is. */
static __device__ __forceinline__ long long ends_before(const problem *p, long long items,
                                                       long long low, long long high)
{
    low = max(low, items - p->n);
    high = min(high, min(items, p->segments));
    while (low < high) {
        long long step = (high - low + BLOCK - 1) / BLOCK, place = low + threadIdx.x * step;
        unsigned yes = __syncthreads_count(place < high && p->ends[place] <= items - 1 - place);
        high = min(high, low + yes * step);
        low = yes ? low + (yes - 1) * step + 1 : high;
    }
    return low;
}

/* Values [value, value + values) and ends [end, end + ends), TILE items or fewer. */
struct tile {
    long long value, end;
    unsigned values, ends;
};

static __device__ __forceinline__ void fetch(const problem *p, tile t, unsigned *items)
{
    unsigned v[ITEMS], thread = threadIdx.x;
    const unsigned *value = (const unsigned *)p->values + t.value + thread;
    const unsigned *end = (const unsigned *)p->ends + t.end - t.values + thread;
#pragma unroll
    for (unsigned k = 0; k < ITEMS; k++) {
        unsigned i = thread + k * BLOCK;
        const unsigned *at = (i < t.values ? value : end) + k * BLOCK;
        v[k] = i < t.values + t.ends ? load_stream(at) : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < ITEMS; k++)
        items[thread + k * BLOCK] = v[k];
}

/* The same by one thread, for items in shared memory. */
static __device__ __forceinline__ unsigned local_ends_before(const unsigned *ends, tile t,
                                                            unsigned items)
{
    unsigned low = items > t.values ? items - t.values : 0, high = min(items, t.ends);
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if ((long long)ends[middle] - t.value <= (long long)items - 1 - middle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What a thread's walk leaves: the sum up to the first end that it meets, of a segment that earlier
 * threads may have begun, and the sum after its last end. */
struct walk {
    bool met; // an end
    long long first;
    float until_first, after_last;
};

static __device__ __forceinline__ walk walk_items(const problem *p, const unsigned *items, tile t)
{
    const unsigned *values = items, *ends = items + t.values;
    unsigned from = threadIdx.x * ITEMS, to = min(from + ITEMS, t.values + t.ends);
    walk w = {false, 0, 0, 0};
    if (from >= to)
        return w;
    unsigned end = local_ends_before(ends, t, from), value = from - end;
    // The value before which the segment ends.
    unsigned stop = end < t.ends ? ends[end] - (unsigned)t.value : NEVER;
#pragma unroll
    for (unsigned i = 0; i < ITEMS; i++) {
        if (from + i < to && stop <= value) {
            if (w.met)
                p->out[t.end + end] = w.after_last;
            else
                w.until_first = w.after_last;
            w.first = w.met ? w.first : t.end + end;
            w.met = true;
            w.after_last = 0;
            end++;
            stop = end < t.ends ? ends[end] - (unsigned)t.value : NEVER;
        } else if (from + i < to) {
            w.after_last += __uint_as_float(values[value++]);
        }
    }
    return w;
}

/* The sum that earlier threads carry into this one, starting from carry; what the block carries on
 * at its end comes back in carry. A thread that met an end starts afresh. */
static __device__ __forceinline__ float carried_in(walk w, float *carry)
{
    __shared__ float sums[WARPS];
    __shared__ unsigned met[WARPS];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned lanes_met = __ballot_sync(0xffffffff, w.met);
    float sum = w.after_last;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        float below = __shfl_up_sync(0xffffffff, sum, distance);
        unsigned between =
            lane >= distance ? lanes_met >> (lane - distance + 1) & ((1u << distance) - 1) : 1;
        sum = between ? sum : below + sum;
    }
    if (lane == 31) {
        sums[warp] = sum;
        met[warp] = lanes_met != 0;
    }
    float in = __shfl_up_sync(0xffffffff, sum, 1);
    __syncthreads();
    float before = *carry, after = *carry;
    for (unsigned k = 0; k < WARPS; k++) {
        before = k == warp ? after : before;
        after = met[k] ? sums[k] : after + sums[k];
    }
    *carry = after;
    if (lane == 0)
        return before;
    return lanes_met & lanes_below() ? in : before + in;
}

/* A block takes `tiles` tiles, one after the other. carry_to[block] and carries[block] are the
 * segment that goes on after them, and what this block adds to it. */
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    reduce(const float *values, const int *offsets, long long n, long long segments,
           long long tiles, float *out, long long *carry_to, float *carries)
{
    __shared__ unsigned items[TILE];
    problem p = {values, offsets + 1, n, segments, out};
    long long item = blockIdx.x * tiles * TILE, last = min(item + tiles * TILE, n + segments);
    long long end = ends_before(&p, item, 0, segments);
    float carry = 0;
    for (; item < last; item += TILE) {
        long long next = min(item + TILE, last), next_end = ends_before(&p, next, end, end + TILE);
        // keep: there are registers for these two, not for what they come from.
        tile t = {item - end, end, keep((unsigned)(next - next_end - (item - end))),
                  keep((unsigned)(next_end - end))};
        fetch(&p, t, items);
        __syncthreads();
        walk w = walk_items(&p, items, t);
        float in = carried_in(w, &carry);
        if (w.met)
            out[w.first] = in + w.until_first;
        end = next_end;
        __syncthreads();
    }
    if (threadIdx.x == 0 && carries) {
        carry_to[blockIdx.x] = end;
        carries[blockIdx.x] = carry;
    }
}

/* A warp for each block that was the first to carry into its segment. */
extern "C" __global__ void __launch_bounds__(BLOCK)
    add_carries(const long long *carry_to, const float *carries, unsigned count,
                long long segments, float *out)
{
    unsigned first = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (first >= count || carry_to[first] >= segments ||
        (first > 0 && carry_to[first - 1] == carry_to[first]))
        return;
    long long segment = carry_to[first];
    float sum = 0;
    for (unsigned i = first + lane; i < count && carry_to[i] == segment; i += 32)
        sum += carries[i];
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (lane == 0)
        out[segment] = sum + out[segment];
}
