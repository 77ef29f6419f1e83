/*
 * streamed.cu: as many blocks as the GPU holds, each with an equal stretch of the merge path, tile
 * after tile: while one tile's rows are summed up in shared memory, the next one's columns and
 * values are on their way. How many rows end in a tile is counted by a barrier, not searched; what
 * a stretch leaves of its last row is added by a second kernel, one carry a block, in a fixed
 * order. The time depends on the bytes alone, not on how the rows lie.
 */
// arch: sm_80
#include "device.h"
#define BLOCK 256 // tune: 128 256 512
#define PER_THREAD 12 // tune: 4 8 12 16
#define WIDTH 4 // tune: 1 4
#define OCCUPANCY 1024 // tune: 768 1024 1536 2048
#define HINT 0 // tune: 0 1
#define NEAR 1024 // tune: 0 512 1024 2048
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
    f32 product[PLACES];
    row_list rows[2];
    u32 long_count[4]; /* of this tile, the next and the one after that, which is cleared */
    f32 carried[2];    /* of the row that goes on from the tile before */
    i32 first_row;
} shared_state;

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

/* The tile from point d on to point `until`; mine is the extent of the thread's first row. A
 * barrier. */
DEVICE stretch take_rows(const i32 *offsets, i64 rows, i32 row, u32 d, u32 until, extent mine,
                         row_list *list, u32 *long_count)
{
    stretch s = {row, 0, (i32)(d - (u32)row)};
    u32 more;
    do {
        i32 r = s.count + (i32)thread_x();
        bool ends_here = (u32)mine.end + (u32)(row + r) + 1 <= until;
        if (ends_here) {
            list->end[r] = (u16)(mine.end - BASE_OF(s.first));
            if (mine.end - (mine.begin > s.first ? mine.begin : s.first) > SHORT)
                list->longer[shared_add_u32(long_count, 1)] = (u16)r;
        }
        more = block_count(ends_here);
        s.count += (i32)more;
        if (more == BLOCK)
            mine = extent_of(offsets, rows, (i64)row + s.count + thread_x());
    } while (more == BLOCK);
    return s;
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
 * row that goes on; none waits for another. */
DEVICE void sum_rows(shared_state *shared, stretch s, i32 end_of_tile, u32 tile, f32 *y)
{
    u32 turn = tile & 1, long_count = shared->long_count[tile & 3];
    const row_list *list = &shared->rows[turn];
    f32 carried = shared->carried[turn];
    for (i32 r = (i32)thread_x(); r < s.count; r += BLOCK) {
        i32 begin = begin_of(list, s, r), end = list->end[r];
        if (end - begin <= SHORT)
            store_stream_f32(y + s.row + r,
                             sum_short(shared->product, begin, end) + (r ? 0 : carried));
    }
    for (u32 k = thread_x() / 32; k < long_count; k += BLOCK / 32) {
        i32 r = list->longer[k];
        f32 sum = sum_long(shared->product, begin_of(list, s, r), list->end[r]);
        if (lane_id() == 0)
            store_stream_f32(y + s.row + r, sum + (r ? 0 : carried));
    }
    if (thread_x() / 32 == BLOCK / 32 - 1) {
        f32 sum = sum_long(shared->product, begin_of(list, s, s.count),
                           end_of_tile - BASE_OF(s.first));
        if (lane_id() == 0)
            shared->carried[turn ^ 1] = sum + (s.count ? 0 : carried);
    }
}

KERNEL __launch_bounds__(BLOCK, OCCUPANCY / BLOCK)
    multiply(const i32 *offsets, const i32 *columns, const f32 *values, const f32 *x, i64 rows,
             i64 nonzeros, f32 *y, carry *carries)
{
    __shared__ shared_state shared;
    i64 items = rows + nonzeros, tiles = (items + ITEMS - 1) / ITEMS;
    i32 tile = (i32)(tiles * block_x() / blocks_x());
    i32 last = (i32)(tiles * (block_x() + 1) / blocks_x());
    u32 me = thread_x();
    if (me < 32) {
        i32 found = rows_before(offsets, rows, nonzeros, POINT(tile));
        if (me == 0)
            shared.first_row = found;
    }
    if (me < 4)
        shared.long_count[me] = 0;
    if (me < 2)
        shared.carried[me] = 0;
    sync_block();
    /* A stretch of nothing comes first, so that loading the first tile is no special case. */
    i32 row = shared.first_row, first = (i32)(POINT(tile) - (u32)row);
    stretch s = {row, 0, first};
    share a;
    for (bool more = true; more; tile++) {
        stretch next = s;
        u32 point = POINT(tile); /* where s ends */
        row = s.row + s.count;
        extent mine = extent_of(offsets, rows, (i64)row + me);
        if (end_of(s, point) > s.first)
            multiply_some(&a, PER_THREAD, x, s.row, s.count, shared.product);
        more = tile < last;
        if (more) {
            u32 until = POINT(tile + 1);
            next = take_rows(offsets, rows, row, point, until, mine, &shared.rows[(tile + 1) & 1],
                             &shared.long_count[(tile + 1) & 3]);
            a = load_tile(columns, values, BASE_OF(next.first), end_of(next, until), nonzeros);
        } else {
            sync_block();
        }
        if (me == 0)
            shared.long_count[(tile + 2) & 3] = 0;
        sum_rows(&shared, s, end_of(s, point), (u32)tile, y);
        sync_block();
        s = next;
    }
    if (me == 0) {
        carry left = {row, row < rows ? shared.carried[tile & 1] : 0};
        carries[block_x()] = left;
    }
}
