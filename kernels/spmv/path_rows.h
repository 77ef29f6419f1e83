/*
 * path_rows.h: a tile of the merge path (path.h, tile.h) that a block works on: which rows end in
 * it, and their sums. BLOCK and PER_THREAD are set.
 */
#include "path.h"
#include "tile.h"
#define ITEMS (TILE - 8) /* row ends and nonzeros; less, as the loads may begin earlier */
/* The point of the path where a tile begins; rows and nonzeros are less than 2^32 together. */
#define POINT(tile) ((u32)least(items, (i64)(tile) * ITEMS))

/* A tile of the path: `count` rows end in it, from row `row` on, and one more may begin. */
typedef struct {
    i32 row, count;
    i32 first; /* nonzero */
} stretch;

/* Rows that end in a tile, and which of them are longer than SHORT, in any order. Two of these: one
 * tile's rows are taken while others are summed up. */
typedef struct {
    u16 end[ITEMS]; /* counted from BASE_OF the first nonzero */
    u16 longer[TILE / SHORT];
} row_list;

typedef struct {
    i32 begin, end;
} extent;

DEVICE extent extent_of(const i32 *offsets, i64 rows, i64 row)
{
    extent none = {0x7fffffff, 0x7fffffff};
    if (row >= rows)
        return none;
    extent e = {load_cached_i32(offsets + row), load_cached_i32(offsets + row + 1)};
    return e;
}

/* Row r of the tile ends in it. */
DEVICE void list_row(row_list *list, u32 *long_count, stretch s, i32 r, extent e)
{
    list->end[r] = (u16)(e.end - BASE_OF(s.first));
    if (e.end - (e.begin > s.first ? e.begin : s.first) > SHORT)
        list->longer[shared_add_u32(long_count, 1)] = (u16)r;
}

/* Where a tile up to point d ends, in nonzeros. */
DEVICE i32 end_of(stretch s, u32 d)
{
    return (i32)(d - (u32)(s.row + s.count));
}

/* Where row r of a tile begins in it. */
DEVICE i32 begin_of(const row_list *list, stretch s, i32 r)
{
    return r ? list->end[r - 1] : s.first - BASE_OF(s.first);
}

/* The rows of one tile: short ones by a thread, longer ones by a warp, and so what has begun of the
 * row that goes on, which is *left; none waits for another. carried: of the first row, from tiles
 * before. */
DEVICE void sum_rows(const f32 *product, const row_list *list, u32 long_count, stretch s,
                     i32 end_of_tile, f32 carried, f32 *y, f32 *left)
{
    for (i32 r = (i32)thread_x(); r < s.count; r += BLOCK) {
        i32 begin = begin_of(list, s, r), end = list->end[r];
        if (end - begin <= SHORT)
            store_stream_f32(y + s.row + r, sum_short(product, begin, end) + (r ? 0 : carried));
    }
    for (u32 k = thread_x() / 32; k < long_count; k += BLOCK / 32) {
        i32 r = list->longer[k];
        f32 sum = sum_long(product, begin_of(list, s, r), list->end[r]);
        if (lane_id() == 0)
            store_stream_f32(y + s.row + r, sum + (r ? 0 : carried));
    }
    if (thread_x() / 32 == BLOCK / 32 - 1) {
        f32 sum = sum_long(product, begin_of(list, s, s.count), end_of_tile - BASE_OF(s.first));
        if (lane_id() == 0)
            *left = sum + (s.count ? 0 : carried);
    }
}
