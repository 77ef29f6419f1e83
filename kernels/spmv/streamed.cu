/*
 * streamed.cu: as many blocks as the GPU holds, each with an equal stretch of the merge path, tile
 * after tile: while one tile's rows are summed up in shared memory, the next one's columns and
 * values are on their way. How many rows end in a tile is counted by a barrier, not searched; what
 * a stretch leaves of its last row is added by a second kernel, one carry a block, in a fixed
 * order. The time depends on the bytes alone, not on how the rows lie.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256
#define VECTORS 4 // tune: 2 4
#define TOGETHER 2 // tune: 1 2
#include "path.h"
#include "tile.h"
#define ITEMS (TILE - 4) /* row ends and nonzeros; less, as the first vector may begin earlier */
#define POINT(tile) ((i64)(tile) * ITEMS) /* of the path, where a tile begins */

/* A tile of the path: `count` rows end in it, from row `row` on, and one more may begin. */
typedef struct {
    i32 row, count;
    i32 first, end; /* nonzeros */
} stretch;

typedef struct {
    f32 product[PLACES];
    u16 end[2][ITEMS + 1]; /* of rows, counted from the first vector's beginning */
    f32 carried[2];        /* of the row that goes on from the tile before */
    u32 long_count[2];
    u16 long_row[TILE / SHORT];
    i32 first_row;
} shared_state;

DEVICE i32 base_of(stretch s)
{
    return s.first & ~3;
}

DEVICE i32 end_of_row(const i32 *offsets, i64 rows, i64 row)
{
    return row < rows ? load_cached_i32(offsets + row + 1) : 0x7fffffff;
}

/* The tile from point d on to point `until`; next_end is end_of_row of the thread's first row. A
 * barrier. */
DEVICE stretch take_rows(const i32 *offsets, i64 rows, i32 row, i64 d, i64 until, i32 next_end,
                         u16 *end)
{
    stretch s = {row, 0, (i32)(d - row), 0};
    u32 more;
    do {
        i64 mine = (i64)row + s.count + thread_x();
        bool ends_here = next_end + mine + 1 <= until;
        if (ends_here)
            end[s.count + thread_x()] = (u16)(next_end - base_of(s));
        more = block_count(ends_here);
        s.count += (i32)more;
        if (more == BLOCK)
            next_end = end_of_row(offsets, rows, mine + BLOCK);
    } while (more == BLOCK);
    s.end = (i32)(until - row - s.count);
    if (thread_x() == 0)
        end[s.count] = (u16)(s.end - base_of(s));
    return s;
}

DEVICE void finish_row(shared_state *shared, stretch s, i32 r, f32 sum, u32 turn, f32 *y)
{
    if (r == 0)
        sum += shared->carried[turn];
    if (r < s.count)
        store_stream_f32(y + s.row + r, sum);
    else
        shared->carried[turn ^ 1] = sum;
}

/* The rows of one tile: short ones by a thread, longer ones, after a barrier, by a warp. */
DEVICE void sum_rows(shared_state *shared, stretch s, u32 turn, f32 *y)
{
    const u16 *end = shared->end[turn];
    i32 begin_of_first = s.first - base_of(s);
    for (i32 r = (i32)thread_x(); r <= s.count; r += BLOCK) {
        i32 from = r ? end[r - 1] : begin_of_first, to = end[r];
        if (to - from > SHORT)
            shared->long_row[shared_add_u32(&shared->long_count[turn], 1)] = (u16)r;
        else
            finish_row(shared, s, r, sum_short(shared->product, from, to), turn, y);
    }
    sync_block();
    u32 count = shared->long_count[turn];
    for (u32 k = thread_x() / 32; k < count; k += BLOCK / 32) {
        i32 r = shared->long_row[k];
        f32 sum = sum_long(shared->product, r ? end[r - 1] : begin_of_first, end[r]);
        if (lane_id() == 0)
            finish_row(shared, s, r, sum, turn, y);
    }
    if (count > 0)
        sync_block();
}

KERNEL __launch_bounds__(BLOCK, 1024 / BLOCK)
    multiply(const i32 *offsets, const i32 *columns, const f32 *values, const f32 *x, i64 rows,
             i64 nonzeros, f32 *y, carry *carries)
{
    __shared__ shared_state shared;
    i64 items = rows + nonzeros, tiles = (items + ITEMS - 1) / ITEMS;
    i32 tile = (i32)(tiles * block_x() / blocks_x());
    i32 last = (i32)(tiles * (block_x() + 1) / blocks_x());
    u32 me = thread_x(), turn = 0;
    if (me < 32) {
        i32 found = rows_before(offsets, rows, nonzeros, POINT(tile));
        if (me == 0)
            shared.first_row = found;
    }
    if (me < 2) {
        shared.carried[me] = 0;
        shared.long_count[me] = 0;
    }
    sync_block();
    /* A stretch of nothing comes first, so that loading the first tile is no special case. */
    i32 row = shared.first_row, first = (i32)(POINT(tile) - row);
    stretch s = {row, 0, first, first};
    vectors a;
    if (me == 0)
        shared.end[0][0] = (u16)(first - base_of(s));
    for (bool more = true; more; tile++, turn ^= 1) {
        stretch next = s;
        row = s.row + s.count;
        i32 next_end = end_of_row(offsets, rows, (i64)row + me);
        if (s.end > s.first)
            multiply_tile(&a, x, s.end - base_of(s), shared.product);
        more = tile < last;
        if (more) {
            next = take_rows(offsets, rows, row, POINT(tile), least(items, POINT(tile + 1)),
                             next_end, shared.end[turn ^ 1]);
            a = load_tile(columns, values, base_of(next), next.end, nonzeros);
        } else {
            sync_block();
        }
        if (me == 0) /* everybody has read it: a barrier lies between */
            shared.long_count[turn ^ 1] = 0;
        sum_rows(&shared, s, turn, y);
        s = next;
    }
    if (me == 0) {
        carry left = {row, row < rows ? shared.carried[turn] : 0};
        carries[block_x()] = left;
    }
}
