/*
 * streamed.cu: as many blocks as the GPU holds, each with an equal stretch of the merge path, tile
 * after tile: while one tile's rows are summed up in shared memory, the next one's columns and
 * values are on their way. How many rows end in a tile is counted by a barrier, not searched; what
 * a stretch leaves of its last row is added by a second kernel, one carry a block, in a fixed
 * order. The time depends on the bytes alone, not on how the rows lie.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512
#define PER_THREAD 12 // tune: 4 8 12 16
#define OCCUPANCY 1024 // tune: 768 1024 1536 2048
#include "path_rows.h"

typedef struct {
    f32 product[PLACES];
    row_list rows[2];
    u32 long_count[4]; /* of this tile, the next and the one after that, which is cleared */
    f32 carried[2];    /* of the row that goes on from the tile before */
    i32 first_row;
} shared_state;

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
        if (ends_here)
            list_row(list, long_count, s, r, mine);
        more = block_count(ends_here);
        s.count += (i32)more;
        if (more == BLOCK)
            mine = extent_of(offsets, rows, (i64)row + s.count + thread_x());
    } while (more == BLOCK);
    return s;
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
            multiply_some(&a, PER_THREAD, x, shared.product);
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
        sum_rows(shared.product, &shared.rows[tile & 1], shared.long_count[tile & 3], s,
                 end_of(s, point), shared.carried[tile & 1], y, &shared.carried[~tile & 1]);
        sync_block();
        s = next;
    }
    if (me == 0) {
        carry left = {row, row < rows ? shared.carried[tile & 1] : 0};
        carries[block_x()] = left;
    }
}
