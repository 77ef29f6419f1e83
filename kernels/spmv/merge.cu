/*
 * merge.cu: every thread gets the same number of items of the merge path (path.h), so that no
 * matrix can make a thread late. A block reads its row ends and nonzeros coalesced into shared
 * memory, its threads find their places there and walk; pieces of a row in several threads come
 * together by a segmented scan, those in several blocks by a second kernel, always in the same
 * order.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 64 128 256
#define PER_THREAD 7 // tune: 5 7 9 11 13
#include "path.h"
#define ITEMS (BLOCK * PER_THREAD)

/* Row ends, then products: together as many as the block has items, and one end more. */
typedef union {
    i32 end;
    f32 product;
} item;

typedef struct {
    i32 row;
    f32 sum;
} piece; /* what is summed up of a row that goes on */

DEVICE i32 find_in_tile(const item *ends, i32 rows, i32 nonzeros, i32 d)
{
    i32 low = d > nonzeros ? d - nonzeros : 0, high = d < rows ? d : rows;
    while (low < high) {
        i32 middle = (low + high) / 2;
        if (ends[middle].end <= d - middle - 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

DEVICE piece add_pieces(piece before, piece p) /* rows ascend */
{
    if (before.row == p.row)
        p.sum = before.sum + p.sum;
    return p;
}

/* For each thread the sum of the pieces before it, of the row of the last of them; the last
 * thread's *all is that of the whole block. A barrier. */
DEVICE piece pieces_before(piece p, piece *all)
{
    __shared__ piece of_warp[BLOCK / 32];
    u32 lane = lane_id(), warp = thread_x() / 32;
    for (u32 lanes = 1; lanes < 32; lanes *= 2) {
        piece below = {shuffle_up_i32(p.row, lanes), shuffle_up_f32(p.sum, lanes)};
        if (lane >= lanes)
            p = add_pieces(below, p);
    }
    if (lane == 31)
        of_warp[warp] = p;
    piece before = {shuffle_up_i32(p.row, 1), shuffle_up_f32(p.sum, 1)};
    sync_block();
    piece warps = {-1, 0};
    for (u32 i = 0; i < warp; i++)
        warps = add_pieces(warps, of_warp[i]);
    *all = add_pieces(warps, p);
    return lane == 0 ? warps : add_pieces(warps, before);
}

KERNEL __launch_bounds__(BLOCK)
    multiply(const i32 *offsets, const i32 *columns, const f32 *values, const f32 *x, i64 rows,
             i64 nonzeros, f32 *y, carry *carries)
{
    __shared__ item items[ITEMS + 1];
    __shared__ i32 place[2]; /* rows before the block's first item and behind its last */
    i64 d = (i64)block_x() * ITEMS, until = least(d + ITEMS, rows + nonzeros);
    i32 me = (i32)thread_x();
    if (me < 64) {
        i32 found = rows_before(offsets, rows, nonzeros, me < 32 ? d : until);
        if (lane_id() == 0)
            place[me / 32] = found;
    }
    sync_block();
    i64 row = place[0], first = d - row;
    i32 count = place[1] - place[0], all = (i32)(until - d), nonzero_count = all - count;
    item *ends = items, *products = items + count + 1;
    for (i32 r = me; r < count; r += BLOCK)
        ends[r].end = (i32)(load_cached_i32(offsets + row + r + 1) - first);
    if (me == 0)
        ends[count].end = 0x7fffffff;
#pragma unroll
    for (i32 k = 0; k < PER_THREAD; k++)
        if (me + k * BLOCK < nonzero_count) {
            i64 j = first + me + k * BLOCK;
            f32 of_x = load_cached_f32(x + (i32)load_stream_u32(columns + j));
            products[me + k * BLOCK].product = load_stream_f32(values + j) * of_x;
        }
    sync_block();

    i32 at = me * PER_THREAD < all ? me * PER_THREAD : all;
    i32 stop = at + PER_THREAD < all ? at + PER_THREAD : all;
    i32 first_r = find_in_tile(ends, count, nonzero_count, at), p = at - first_r;
    piece mine = {first_r, 0};
    f32 first_sum = 0;
    for (; at < stop; at++)
        if (p < ends[mine.row].end) {
            mine.sum += products[p++].product;
        } else {
            if (mine.row == first_r)
                first_sum = mine.sum;
            else
                y[row + mine.row] = mine.sum;
            mine.row++;
            mine.sum = 0;
        }
    piece total, before = pieces_before(mine, &total);
    if (mine.row > first_r)
        y[row + first_r] = before.row == first_r ? before.sum + first_sum : first_sum;
    if (me == BLOCK - 1) {
        bool past_all = row + total.row >= rows;
        carry left = {(i32)(past_all ? rows : row + total.row), past_all ? 0 : total.sum};
        carries[block_x()] = left;
    }
}
