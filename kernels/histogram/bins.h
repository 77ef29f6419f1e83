/*
 * bins.h: which bin an element counts in, and what all variants do with counters.
 */
#ifndef LOCKSTEP_HISTOGRAM_BINS_H
#define LOCKSTEP_HISTOGRAM_BINS_H

#define NO_BIN 0xffffffffu

/* The product is rounded to f32 before it is cut. With x < 1 it stays under bins: 1 - 2^-24 times
 * bins lies more than half a step below bins, or is exact if bins is a power of two. */
DEVICE u32 bin_of_f32(f32 x, u32 bins)
{
    return x >= 0 && x < 1 ? (u32)(x * (f32)bins) : NO_BIN;
}
/* The same for a block that counts the bins from low to high alone: is x * bins among them? Both
 * are whole numbers, and the product is at least 0 and less than bins just where x is in [0, 1). */
DEVICE bool is_within(f32 product, f32 low, f32 high)
{
    return product >= low && product < high;
}
DEVICE u32 bin_of_u8(u8 x, u32)
{
    return x;
}

DEVICE void clear_counters(u32 *counters, u32 count)
{
    for (u32 i = thread_x(); i < count; i += threads_x())
        counters[i] = 0;
    sync_block();
}

/* The block's part to the result. */
DEVICE void add_counters(const u32 *counters, u32 count, u32 *counts)
{
    sync_block();
    for (u32 i = thread_x(); i < count; i += threads_x())
        if (counters[i])
            red_add_u32(&counts[i], counters[i]);
}

/* Blocks of row y count the bins from y * range on: what shared memory does not hold at once takes
 * another pass over the input. */
DEVICE u32 first_bin(u32 range)
{
    return block_y() * range;
}
DEVICE u32 bins_here(u32 bins, u32 range)
{
    return (u32)least(range, bins - first_bin(range));
}

#endif
