/*
 * tile.h: a tile of TILE nonzeros that a block works on. Columns and values come in by 16-byte
 * loads, each thread's products go to shared memory, rows are summed up there. Every nonzero is one
 * coalesced load and one gather, however the rows lie. BLOCK, VECTORS and TOGETHER, which divides
 * VECTORS, are set.
 */
#define TILE  (BLOCK * VECTORS * 4)
#define SHORT 32 /* nonzeros that one thread sums up; a longer row gets a warp */
/* One word in 33 is left out: rows of 8, 16 or 32 nonzeros would otherwise meet in the same
 * banks, and so would the four words of neighbouring lanes' vectors. */
#define PLACE(p)     ((u32)(p) + (u32)(p) / 32)
#define PLACES       (TILE + TILE / 32)
#define VECTOR_OF(v) (4 * ((i32)thread_x() + (v) * BLOCK)) /* its first nonzero in the tile */

typedef struct {
    u32x4 column[VECTORS], value[VECTORS];
} vectors;

DEVICE u32x4 load_by_words(const u32 *at, i32 count)
{
    u32x4 v = {0, 0, 0, 0};
    if (count > 0)
        v.x = load_stream_u32(at);
    if (count > 1)
        v.y = load_stream_u32(at + 1);
    if (count > 2)
        v.z = load_stream_u32(at + 2);
    if (count > 3)
        v.w = load_stream_u32(at + 3);
    return v;
}

/* Nonzeros from base, a multiple of four, up to end. A vector is read whole even if the tile
 * ends inside it: what belongs to the next tile is never summed up. Arrays that do not lie at 16
 * bytes, and the last few nonzeros of all, are read word by word. */
DEVICE vectors load_tile(const i32 *columns, const f32 *values, i64 base, i64 end, i64 nonzeros)
{
    vectors a;
    const u32 *column = (const u32 *)columns + base, *value = (const u32 *)values + base;
    i32 count = (i32)(end - base);
    if (is_aligned(column, 16) && is_aligned(value, 16) && (end + 3) / 4 * 4 <= nonzeros) {
#pragma unroll
        for (i32 v = 0; v < VECTORS; v++)
            if (VECTOR_OF(v) < count)
                a.column[v] = load_stream_u32x4(column + VECTOR_OF(v));
#pragma unroll
        for (i32 v = 0; v < VECTORS; v++)
            if (VECTOR_OF(v) < count)
                a.value[v] = load_stream_u32x4(value + VECTOR_OF(v));
    } else {
#pragma unroll
        for (i32 v = 0; v < VECTORS; v++) {
            a.column[v] = load_by_words(column + VECTOR_OF(v), count - VECTOR_OF(v));
            a.value[v] = load_by_words(value + VECTOR_OF(v), count - VECTOR_OF(v));
        }
    }
    return a;
}

/* The gathers of TOGETHER vectors are in flight at a time: more take more registers. */
DEVICE void multiply_tile(const vectors *a, const f32 *x, i32 count, f32 *product)
{
#pragma unroll
    for (i32 first = 0; first < VECTORS; first += TOGETHER) {
        f32x4 of_x[TOGETHER];
#pragma unroll
        for (i32 k = 0, v = first; k < TOGETHER; k++, v++)
            if (VECTOR_OF(v) < count) {
                of_x[k].x = load_cached_f32(x + (i32)a->column[v].x);
                of_x[k].y = load_cached_f32(x + (i32)a->column[v].y);
                of_x[k].z = load_cached_f32(x + (i32)a->column[v].z);
                of_x[k].w = load_cached_f32(x + (i32)a->column[v].w);
            }
#pragma unroll
        for (i32 k = 0, v = first; k < TOGETHER; k++, v++)
            if (VECTOR_OF(v) < count) {
                f32 *at = product + PLACE(VECTOR_OF(v)); /* four words that no gap parts */
                at[0] = f32_from_bits(a->value[v].x) * of_x[k].x;
                at[1] = f32_from_bits(a->value[v].y) * of_x[k].y;
                at[2] = f32_from_bits(a->value[v].z) * of_x[k].z;
                at[3] = f32_from_bits(a->value[v].w) * of_x[k].w;
            }
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
