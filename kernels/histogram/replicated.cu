/*
 * replicated.cu: as many copies as fit, interleaved: the counters of one bin lie side by side, and
 * a lane takes the one of its number. With 32 copies every lane has a bank of its own, so that no
 * data makes lanes wait. 16-byte loads, UNROLL of them in flight. Each block leaves its counts in a
 * row of the workspace; a second kernel adds the rows, with no atomics and no clearing.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#include "bins.h"
#define BLOCK 1024 // tune: 256 512 1024
#define UNROLL 4 // tune: 1 2 4 8
#define SHARED_KB 32 // tune: 8 16 32 64
#define MERGE_ROWS 32

/* Where a lane counts. A bin's copies take 1 << shift bytes; base is the address of bin 0, or would
 * be if the block's range went that far down; copy is the lane's place among a bin's copies. */
struct place {
    u32 base, copy, shift;
    f32 bins, low, high; /* all of them, and the block's range */
    u32 none;
};

/* What does not count here goes to one bin more than there are: cheaper than a branch. */
DEVICE void count_one_f32(f32 x, struct place p)
{
    f32 product = x * p.bins;
    u32 bin = is_within(product, p.low, p.high) ? u32_from_f32(product) : p.none;
    shared_red_add_at(p.base + p.copy + (bin << p.shift), 1);
}
DEVICE void count_vector_f32(u32x4 v, struct place p)
{
    count_one_f32(f32_from_bits(v.x), p);
    count_one_f32(f32_from_bits(v.y), p);
    count_one_f32(f32_from_bits(v.z), p);
    count_one_f32(f32_from_bits(v.w), p);
}

/* Bytes have 64 copies: a bin's 256 bytes make the element itself the upper half of the address,
 * and one instruction puts the halves together. All 256 values count; the last ones may not be
 * asked for. */
DEVICE void count_one_u8(u8 x, struct place p)
{
    shared_red_add_at(p.base + p.copy + (x << 8), 1);
}
DEVICE void count_vector_u8(u32x4 v, struct place p)
{
    const u32 word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (u32 k = 0; k < 16; k++)
        shared_red_add_at(p.base + permute_bytes(word[k / 4], p.copy, 0x5504u | k % 4 << 4), 1);
}

/* The copies of each bin become one count. Lanes start at copies in different banks. */
DEVICE void sum_copies(const u32 *counters, u32 copies, u32 here, u32 *row)
{
    sync_block();
    u32 turn = thread_x() % 32 * copies / 32;
    for (u32 bin = thread_x(); bin < here; bin += threads_x()) {
        u32 sum = 0;
        for (u32 k = 0; k < copies; k++)
            sum += counters[bin * copies + ((k + turn) & (copies - 1))];
        row[bin] = sum;
    }
}

/* counts[bin] = the sum of rows[0 .. count)[bin]; 32 bins a block, MERGE_ROWS threads for each. */
KERNEL merge(const u32 *rows, u32 count, u32 bins, u32 *counts)
{
    __shared__ u32 part[MERGE_ROWS][32];
    u32 lane = thread_x() % 32, group = thread_x() / 32, bin = block_x() * 32 + lane, sum = 0;
    if (bin < bins)
#pragma unroll 4
        for (u32 row = group; row < count; row += MERGE_ROWS)
            sum += rows[(u64)row * bins + bin];
    part[group][lane] = sum;
    sync_block();
    if (group > 0 || bin >= bins)
        return;
    for (u32 k = 1; k < MERGE_ROWS; k++)
        sum += part[k][lane];
    counts[bin] = sum;
}

#define EACH "replicated.cu"
#include "each_type.h"
#else

#define VECTOR ((i64)(16 / sizeof(T)))

DEVICE void NAME(count_all)(const T *in, i64 n, struct place p)
{
    i64 head = least(n, (i64)((16 - (u64)in % 16) % 16 / sizeof(T)));
    i64 vectors = (n - head) / VECTOR, tail = head + vectors * VECTOR;
    i64 i = global_thread(), all_threads = global_threads();
    if (i < head)
        NAME(count_one)(in[i], p);
    if (i < n - tail)
        NAME(count_one)(in[tail + i], p);
    const T *body = in + head;
    for (; i + (UNROLL - 1) * all_threads < vectors; i += UNROLL * all_threads) {
        u32x4 v[UNROLL];
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            v[k] = load_stream_u32x4(body + (i + k * all_threads) * VECTOR);
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            NAME(count_vector)(v[k], p);
    }
    for (; i < vectors; i += all_threads)
        NAME(count_vector)(load_stream_u32x4(body + i * VECTOR), p);
}

/* Row block_x() of rows[][bins]; copies is a power of two. */
KERNEL __launch_bounds__(1024)
    NAME(count)(const T *in, i64 n, u32 bins, u32 range, u32 copies, u32 *rows)
{
    DYNAMIC_SHARED(memory);
    u32 *counters = (u32 *)memory; // [here][copies], of numbers one row more
    u32 first = first_bin(range), here = bins_here(bins, range);
    clear_counters(counters, (range + (sizeof(T) > 1)) * copies);
    u32 shift = lowest_bit(copies) + 2;
    struct place p = {shared_address(counters) - (first << shift),
                      thread_x() % copies * 4,
                      shift,
                      (f32)bins,
                      (f32)first,
                      (f32)(first + here),
                      first + here};
    if (sizeof(T) > 1 || first == 0) /* no byte reaches a second range */
        NAME(count_all)(in, n, p);
    sum_copies(counters, copies, here, rows + (u64)block_x() * bins + first);
}
#undef VECTOR
#endif
