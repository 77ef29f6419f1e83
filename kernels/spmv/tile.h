/*
 * tile.h: a tile of TILE nonzeros that a block works on. Columns and values are streamed in by
 * 16-byte loads, each thread's products go to shared memory, rows are summed up there. Every
 * nonzero is one coalesced load and one gather, however the rows lie. BLOCK and PER_THREAD
 * (nonzeros of a thread, a multiple of 4) are set.
 */
#define TILE  (BLOCK * PER_THREAD)
#define SHORT 32 /* nonzeros that one thread sums up; a longer row gets a warp */
/* A tile's loads begin where a sector does, at most 7 nonzeros early. */
#define BASE_OF(first) ((first) & ~7)
/* One word in 33 is left out: rows of 8, 16 or 32 nonzeros would otherwise meet in the same
 * banks, and so would the four words of neighbouring lanes' vectors. */
#define PLACE(p) ((u32)(p) + (u32)(p) / 32)
#define PLACES   (TILE + TILE / 32)
/* Where the thread's nonzero number j lies in the tile: four of them side by side. */
#define NONZERO(j) (((j) / 4 * BLOCK + (i32)thread_x()) * 4 + (j) % 4)

/* Where a tile's columns and values lie: from nonzero base up to end. A vector is read whole even if
 * the tile ends inside it: what belongs to another tile is never summed up. Arrays that do not
 * lie at 16 bytes, and the last few nonzeros of all, are read word by word. */
typedef struct {
    const u32 *columns, *values;
    i32 count;
    bool by_vectors;
} source;

DEVICE source source_of(const i32 *columns, const f32 *values, i32 base, i32 end, i64 nonzeros)
{
    source from = {(const u32 *)columns + base, (const u32 *)values + base, end - base, false};
    from.by_vectors = is_aligned(from.columns, 16) && is_aligned(from.values, 16) &&
                      ((i64)end + 3) / 4 * 4 <= nonzeros;
    return from;
}

/* The thread's first words, `some` of them, a constant; 0 where there are none. */
DEVICE void load_words(const u32 *from, source tile, i32 some, u32 *word)
{
#pragma unroll
    for (i32 j = 0; j < some; j++)
        word[j] = 0;
    if (tile.by_vectors) {
#pragma unroll
        for (i32 j = 0; j < some; j += 4)
            if (NONZERO(j) < tile.count) {
                u32x4 v = load_stream_u32x4(from + NONZERO(j));
                word[j] = v.x;
                word[j + 1] = v.y;
                word[j + 2] = v.z;
                word[j + 3] = v.w;
            }
    } else {
#pragma unroll
        for (i32 j = 0; j < some; j++)
            if (NONZERO(j) < tile.count)
                word[j] = load_stream_u32(from + NONZERO(j));
    }
}

/* All gathers of a thread are in flight at once, and the values with them: these are asked for no
 * sooner, so that they take no registers while the columns come. Element 0 stands for what is not
 * there. */
DEVICE void multiply_some(const u32 *column, i32 some, source tile, const f32 *x, f32 *product)
{
    f32 of_x[PER_THREAD];
    u32 value[PER_THREAD];
#pragma unroll
    for (i32 j = 0; j < some; j++)
        of_x[j] = load_cached_f32(x + (i32)column[j]);
    load_words(tile.values, tile, some, value);
#pragma unroll
    for (i32 j = 0; j < some; j++) /* no gap parts the words of a vector */
        product[PLACE(NONZERO(j - j % 4)) + j % 4] = f32_from_bits(value[j]) * of_x[j];
}

/* The products of a tile; one that is mostly empty, as the last of a block's rows often is, is told
 * apart. */
DEVICE void multiply_tile(source tile, const f32 *x, f32 *product)
{
    u32 column[PER_THREAD];
    if (tile.count > 4 * BLOCK) {
        load_words(tile.columns, tile, PER_THREAD, column);
        multiply_some(column, PER_THREAD, tile, x, product);
    } else {
        load_words(tile.columns, tile, 4, column);
        multiply_some(column, 4, tile, x, product);
    }
}

/* Products from begin to end, by one thread. */
DEVICE f32 sum_short(const f32 *product, i32 begin, i32 end)
{
    f32 sum = 0;
#pragma unroll 4
    for (i32 p = begin; p < end; p++)
        sum += product[PLACE(p)];
    return sum;
}

/* The same by a warp; every lane gets it. */
DEVICE f32 sum_long(const f32 *product, i32 begin, i32 end)
{
    f32 sum = 0;
#pragma unroll 4
    for (i32 p = begin + (i32)lane_id(); p < end; p += 32)
        sum += product[PLACE(p)];
    for (u32 lanes = 16; lanes > 0; lanes /= 2)
        sum += shuffle_xor_f32(sum, lanes);
    return sum;
}
