/*
 * path.h: the merge path. Ends of rows and nonzeros are merged into one list of rows + nonzeros
 * items, a row's end behind its last nonzero; a share of so many items is a share of the work,
 * whatever the rows look like. Point d of the path has seen `row` ends and d - row nonzeros.
 */

/* How many rows end before point d. The whole warp looks at 32 places at a time. */
DEVICE i32 rows_before(const i32 *offsets, i64 rows, i64 nonzeros, i64 d)
{
    i64 low = d > nonzeros ? d - nonzeros : 0, high = least(d, rows);
    while (low < high) {
        i64 step = (high - low + 31) / 32, at = low + (lane_id() + 1) * step - 1;
        bool ends_before = at < high && load_cached_i32(offsets + at + 1) <= d - at - 1;
        i64 passed = count_bits(warp_ballot(ends_before));
        high = least(high, low + (passed + 1) * step - 1);
        low += passed * step;
    }
    return (i32)low;
}

/* What a share of the path had summed up when it stopped in the middle of a row. */
typedef struct {
    i32 row; /* the number of rows: nothing is left over */
    f32 sum;
} carry;

/* Adds to each row what the shares before the one that ended it left over, always in the same
 * order: most rows have one carry; the first of several finds the whole warp to help it. */
KERNEL __launch_bounds__(256) add_carries(const carry *carries, i64 count, i64 rows, f32 *y)
{
    i64 me = global_thread();
    u32 lane = lane_id();
    carry none = {(i32)rows, 0}, mine = me < count ? carries[me] : none;
    bool first = mine.row < rows && (me == 0 || carries[me - 1].row != mine.row);
    bool alone = first && (me + 1 >= count || carries[me + 1].row != mine.row);
    if (alone)
        y[mine.row] += mine.sum;
    for (u32 todo = warp_ballot(first && !alone); todo != 0; todo &= todo - 1) {
        u32 at = lowest_bit(todo);
        i32 its_row = shuffle_i32(mine.row, at);
        i64 k = me + at; /* this lane's, counted from the first */
        f32 sum = 0;
        bool more = true;
        while (more) { /* carries of one row lie side by side */
            bool its = k < count && carries[k].row == its_row;
            sum += its ? carries[k].sum : 0;
            more = warp_all(its);
            k += 32;
        }
        for (u32 lanes = 16; lanes > 0; lanes /= 2)
            sum += shuffle_down_f32(sum, lanes);
        if (lane == 0)
            y[its_row] += sum;
    }
}
