/*
 * path_tiles.cu: row_tiles without late blocks: a block for each tile of the merge path, which is
 * an equal share of nonzeros and row ends. Where the tiles begin is found by a kernel before, which
 * walks over the row ends once, so that a block can ask for its nonzeros at once; while it waits,
 * others on its SM gather or sum up. What a tile leaves of its last row is added by a third kernel,
 * in a fixed order. The time depends on the bytes alone, not on how the rows lie.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 512 // tune: 256 512
#define PER_THREAD 12 // tune: 8 12 16
#define OCCUPANCY 1536 // tune: 1024 1280 1536 2048
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

/* Rows that end in a tile, and which of them are longer than SHORT, in any order. */
typedef struct {
    u16 end[ITEMS]; /* counted from BASE_OF the first nonzero */
    u16 longer[TILE / SHORT];
    u32 long_count;
} row_list;

/* Row r of the tile ends in it. */
DEVICE void list_row(row_list *list, stretch s, i32 r, const i32 *offsets)
{
    offsets += s.row + r;
    i32 begin = load_cached_i32(offsets), end = load_cached_i32(offsets + 1);
    list->end[r] = (u16)(end - BASE_OF(s.first));
    if (end - (begin > s.first ? begin : s.first) > SHORT)
        list->longer[shared_add_u32(&list->long_count, 1)] = (u16)r;
}

/* Where row r of a tile begins in it. */
DEVICE i32 begin_of(const row_list *list, stretch s, i32 r)
{
    return r ? list->end[r - 1] : s.first - BASE_OF(s.first);
}

/* The rows of a tile: short ones by a thread, longer ones by a warp, and so what has begun of the
 * row that goes on, which is *left; none waits for another. */
DEVICE void sum_rows(const f32 *product, const row_list *list, stretch s, i32 end_of_tile, f32 *y,
                     f32 *left)
{
    for (i32 r = (i32)thread_x(); r < s.count; r += BLOCK) {
        i32 begin = begin_of(list, s, r), end = list->end[r];
        if (end - begin <= SHORT)
            store_stream_f32(y + s.row + r, sum_short(product, begin, end));
    }
    for (u32 k = thread_x() / 32; k < list->long_count; k += BLOCK / 32) {
        i32 r = list->longer[k];
        f32 sum = sum_long(product, begin_of(list, s, r), list->end[r]);
        if (lane_id() == 0)
            store_stream_f32(y + s.row + r, sum);
    }
    if (thread_x() / 32 == BLOCK / 32 - 1) {
        f32 sum = sum_long(product, begin_of(list, s, s.count), end_of_tile - BASE_OF(s.first));
        if (lane_id() == 0)
            *left = sum;
    }
}

/* first_row[t]: how many rows end before tile t, for every tile and what lies behind the last. Each
 * thread has a row, and tells the tiles that begin between the row before's end and its own. */
KERNEL find_tiles(const i32 *offsets, i64 rows, i64 tiles, i32 *first_row)
{
    i64 row = global_thread();
    if (row > rows)
        return;
    /* Points of the path, in 32 bits: behind the end of the row before, and behind this one's. */
    u32 point = row ? (u32)load_cached_i32(offsets + row) + (u32)row : 0;
    u32 next = row < rows ? (u32)load_cached_i32(offsets + row + 1) + (u32)row + 1 : 0xffffffffu;
    u32 tile = point / ITEMS + (point % ITEMS != 0);
    for (; tile < tiles && tile * ITEMS < next; tile++)
        first_row[tile] = (i32)row;
    if (row == rows)
        first_row[tiles] = (i32)rows;
}

KERNEL __launch_bounds__(BLOCK, OCCUPANCY / BLOCK)
    multiply(const i32 *offsets, const i32 *columns, const f32 *values, const f32 *x, i64 rows,
             i64 nonzeros, f32 *y, const i32 *first_row, carry *carries)
{
    __shared__ f32 product[PLACES];
    __shared__ row_list list;
    i64 items = rows + nonzeros, tile = block_x();
    i32 row = load_cached_i32(first_row + tile), behind = load_cached_i32(first_row + tile + 1);
    stretch s = {row, behind - row, (i32)(POINT(tile) - (u32)row)};
    i32 end = (i32)(POINT(tile + 1) - (u32)behind);
    source from = source_of(columns, values, BASE_OF(s.first), end, nonzeros);
    u32 column[PER_THREAD];
    load_words(from.columns, from, PER_THREAD, column);
    if (thread_x() == 0)
        list.long_count = 0;
    sync_block();
    for (i32 r = (i32)thread_x(); r < s.count; r += BLOCK)
        list_row(&list, s, r, offsets);
    multiply_some(column, PER_THREAD, from, x, product);
    sync_block();
    if (thread_x() == 0)
        carries[tile].row = behind;
    sum_rows(product, &list, s, end, y, &carries[tile].sum);
}
