/*
 * row_tiles.cu: a block takes BLOCK rows and treats their nonzeros as one stream: every load is
 * coalesced, every thread has several gathers in flight, and only then, in shared memory, are the
 * products told apart by rows. One launch, no workspace. A block with a huge row is late, though;
 * path_tiles.cu cures that.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512
#define PER_THREAD 16 // tune: 4 8 12 16
#define OCCUPANCY 1024 // tune: 768 1024 1536 2048
#include "tile.h"

/* Rows longer than SHORT in a tile, in any order; each is summed up by itself. */
typedef struct {
    u32 count;
    u32 row[TILE / SHORT];
} long_rows;

DEVICE void sum_long_rows(const long_rows *rows, const f32 *product, const i32 *start, i64 base,
                          f32 *sum_of)
{
    for (u32 k = thread_x() / 32; k < rows->count; k += BLOCK / 32) {
        u32 row = rows->row[k];
        i64 begin = start[row] - base, end = start[row + 1] - base;
        f32 sum = sum_long(product, begin > 0 ? (i32)begin : 0, (i32)least(end, TILE));
        if (lane_id() == 0)
            sum_of[row] += sum;
    }
}

KERNEL __launch_bounds__(BLOCK, OCCUPANCY / BLOCK)
    multiply(const i32 *offsets, const i32 *columns, const f32 *values, const f32 *x, i64 rows,
             i64 nonzeros, f32 *y)
{
    __shared__ f32 product[PLACES], sum_of[BLOCK];
    __shared__ i32 start[BLOCK + 1];
    __shared__ long_rows longer[2]; /* of this tile and the next */
    u32 me = thread_x(), turn = 0;
    i64 first_row = (i64)block_x() * BLOCK, row = first_row + me;
    start[me] = load_cached_i32(offsets + least(row, rows));
    sum_of[me] = 0;
    if (me == 0)
        start[BLOCK] = load_cached_i32(offsets + least(first_row + BLOCK, rows));
    if (me < 2)
        longer[me].count = 0;
    sync_block();
    i32 my_begin = start[me], my_end = start[me + 1];
    i64 last = start[BLOCK];
    f32 sum = 0;
    for (i64 base = BASE_OF(start[0]); base < last; base += TILE, turn ^= 1) {
        i64 end = least(base + TILE, last);
        i32 begin = my_begin > base ? (i32)(my_begin - base) : 0;
        i32 stop = (i32)(least(my_end, end) - base);
        if (stop - begin > SHORT)
            longer[turn].row[shared_add_u32(&longer[turn].count, 1)] = me;
        multiply_tile(source_of(columns, values, (i32)base, (i32)end, nonzeros), x, product);
        sync_block();
        if (stop - begin <= SHORT)
            sum += sum_short(product, begin, stop);
        sum_long_rows(&longer[turn], product, start, base, sum_of);
        sync_block();
        if (me == 0) /* for the tile after the next: a barrier lies between */
            longer[turn].count = 0;
    }
    if (row < rows)
        store_stream_f32(y + row, sum + sum_of[me]);
}
