/*
 * tile.h: a tile of TILE nonzeros that a block works on. Columns and values come in by 16-byte loads,
 * each thread's products go to shared memory, rows are summed up there. Every nonzero is one
 * coalesced load and one gather, however the rows lie. BLOCK and VECTORS are set.
 */
#define TILE  (BLOCK * VECTORS * 4)
#define SHORT 32 /* nonzeros that one thread sums up; a longer row gets a warp */
/* One word in 33 is left out: rows of 8, 16 or 32 nonzeros would otherwise meet in the same banks, and
 * so would the four words of neighbouring lanes' vectors. */
#define PLACE(p)     ((p) + (p) / 32)
#define PLACES       (TILE + TILE / 32)
#define VECTOR_OF(v) (4 * ((i32)thread_x() + (v) * BLOCK)) /* its first nonzero in the tile */

/* Four words from index on. A vector is read whole even if the tile ends inside it; what belongs to
 * the next tile is never summed up. */
DEVICE u32x4 load_four(const void *array, i64 index, i64 end, i64 nonzeros, bool aligned)
{
    u32x4 v = {0, 0, 0, 0};
    const u32 *at = (const u32 *)array + index;
    if (aligned && index < end && index + 4 <= nonzeros)
        return load_stream_u32x4(at);
    if (index < end)
        v.x = load_stream_u32(at);
    if (index + 1 < end)
        v.y = load_stream_u32(at + 1);
    if (index + 2 < end)
        v.z = load_stream_u32(at + 2);
    if (index + 3 < end)
        v.w = load_stream_u32(at + 3);
    return v;
}

typedef struct {
    u32x4 column[VECTORS], value[VECTORS];
} vectors;

/* base: a multiple of four. */
DEVICE vectors load_tile(const i32 *columns, const f32 *values, i64 base, i64 end, i64 nonzeros)
{
    vectors a;
    bool aligned = is_aligned(columns, 16) && is_aligned(values, 16);
#pragma unroll
    for (i32 v = 0; v < VECTORS; v++)
        a.column[v] = load_four(columns, base + VECTOR_OF(v), end, nonzeros, aligned);
#pragma unroll
    for (i32 v = 0; v < VECTORS; v++)
        a.value[v] = load_four(values, base + VECTOR_OF(v), end, nonzeros, aligned);
    return a;
}

DEVICE void multiply_tile(const vectors *a, const f32 *x, i32 count, f32 *product)
{
    f32x4 of_x[VECTORS];
#pragma unroll
    for (i32 v = 0; v < VECTORS; v++)
        if (VECTOR_OF(v) < count) {
            of_x[v].x = load_cached_f32(x + (i32)a->column[v].x);
            of_x[v].y = load_cached_f32(x + (i32)a->column[v].y);
            of_x[v].z = load_cached_f32(x + (i32)a->column[v].z);
            of_x[v].w = load_cached_f32(x + (i32)a->column[v].w);
        }
#pragma unroll
    for (i32 v = 0; v < VECTORS; v++)
        if (VECTOR_OF(v) < count) {
            f32 *at = product + PLACE(VECTOR_OF(v)); /* four words that no gap parts */
            at[0] = f32_from_bits(a->value[v].x) * of_x[v].x;
            at[1] = f32_from_bits(a->value[v].y) * of_x[v].y;
            at[2] = f32_from_bits(a->value[v].z) * of_x[v].z;
            at[3] = f32_from_bits(a->value[v].w) * of_x[v].w;
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
