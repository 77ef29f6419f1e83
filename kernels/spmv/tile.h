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

typedef struct {
    u32 column[PER_THREAD], value[PER_THREAD];
} share;

DEVICE void load_vector(const u32 *at, u32 *word)
{
    u32x4 v = load_stream_u32x4(at);
    word[0] = v.x;
    word[1] = v.y;
    word[2] = v.z;
    word[3] = v.w;
}

/* Nonzeros from base up to end; column 0 stands where there are none. A vector is read whole even
 * if the tile ends inside it: what belongs to another tile is never summed up. Arrays that do not
 * lie at 16 bytes, and the last few nonzeros of all, are read word by word. */
DEVICE share load_tile(const i32 *columns, const f32 *values, i32 base, i32 end, i64 nonzeros)
{
    share a;
    const u32 *column = (const u32 *)columns + base, *value = (const u32 *)values + base;
    i32 count = end - base;
#pragma unroll
    for (i32 j = 0; j < PER_THREAD; j++)
        a.column[j] = 0;
    if (is_aligned(column, 16) && is_aligned(value, 16) && ((i64)end + 3) / 4 * 4 <= nonzeros) {
#pragma unroll
        for (i32 j = 0; j < PER_THREAD; j += 4)
            if (NONZERO(j) < count)
                load_vector(column + NONZERO(j), a.column + j);
#pragma unroll
        for (i32 j = 0; j < PER_THREAD; j += 4)
            if (NONZERO(j) < count)
                load_vector(value + NONZERO(j), a.value + j);
    } else {
#pragma unroll
        for (i32 j = 0; j < PER_THREAD; j++)
            if (NONZERO(j) < count)
                a.column[j] = load_stream_u32(column + NONZERO(j));
#pragma unroll
        for (i32 j = 0; j < PER_THREAD; j++)
            if (NONZERO(j) < count)
                a.value[j] = load_stream_u32(value + NONZERO(j));
    }
    return a;
}

/* The thread's first nonzeros, `some` of them, a constant: all gathers are in flight at once. */
DEVICE void multiply_some(const share *a, i32 some, const f32 *x, f32 *product)
{
    f32 of_x[PER_THREAD];
#pragma unroll
    for (i32 j = 0; j < some; j++)
        of_x[j] = load_cached_f32(x + (i32)a->column[j]);
#pragma unroll
    for (i32 j = 0; j < some; j++) /* no gap parts the words of a vector */
        product[PLACE(NONZERO(j - j % 4)) + j % 4] = f32_from_bits(a->value[j]) * of_x[j];
}

/* A tile that is not full gathers element 0 for what it lacks, without asking; but one that is
 * mostly empty, as the last of a block's rows often is, is told apart. */
DEVICE void multiply_tile(const share *a, const f32 *x, i32 count, f32 *product)
{
    if (count > 4 * BLOCK)
        multiply_some(a, PER_THREAD, x, product);
    else
        multiply_some(a, 4, x, product);
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
