/*
 * path_tiles.cu: row_tiles without late blocks: a block for each tile of the merge path, which is
 * an equal share of nonzeros and row ends. Where the tiles begin is found by a kernel before, a
 * warp for each, so that a block can ask for its nonzeros at once; while it waits, others on its SM
 * gather or sum up. What a tile leaves of its last row is added by a third kernel, in a fixed
 * order. The time depends on the bytes alone, not on how the rows lie.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512
#define PER_THREAD 16 // tune: 8 12 16
#define OCCUPANCY 1024 // tune: 768 1024 1280
#include "path_rows.h"

/* first_row[t]: how many rows end before tile t; one more than there are tiles. */
KERNEL find_tiles(const i32 *offsets, i64 rows, i64 nonzeros, i64 tiles, i32 *first_row)
{
    i64 items = rows + nonzeros, tile = global_thread() / 32;
    if (tile > tiles)
        return;
    i32 found = rows_before(offsets, rows, nonzeros, POINT(tile));
    if (lane_id() == 0)
        first_row[tile] = found;
}

KERNEL __launch_bounds__(BLOCK, OCCUPANCY / BLOCK)
    multiply(const i32 *offsets, const i32 *columns, const f32 *values, const f32 *x, i64 rows,
             i64 nonzeros, f32 *y, const i32 *first_row, carry *carries)
{
    __shared__ f32 product[PLACES];
    __shared__ row_list list;
    __shared__ u32 long_count;
    i64 items = rows + nonzeros, tile = block_x();
    i32 row = load_cached_i32(first_row + tile), behind = load_cached_i32(first_row + tile + 1);
    stretch s = {row, behind - row, (i32)(POINT(tile) - (u32)row)};
    i32 end = end_of(s, POINT(tile + 1));
    share a = load_tile(columns, values, BASE_OF(s.first), end, nonzeros);
    if (thread_x() == 0)
        long_count = 0;
    sync_block();
    for (i32 r = (i32)thread_x(); r < s.count; r += BLOCK)
        list_row(&list, &long_count, s, r, extent_of(offsets, rows, (i64)row + r));
    multiply_some(&a, PER_THREAD, x, product);
    sync_block();
    carry *left = carries + tile;
    if (thread_x() == 0)
        left->row = behind < rows ? behind : (i32)rows;
    sum_rows(product, &list, long_count, s, end, 0, y, &left->sum);
}
