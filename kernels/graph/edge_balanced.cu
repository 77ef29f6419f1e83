/*
 * edge_balanced.cu: a step of a breadth-first search in which every block gets the same number of
 * edges, whoever they belong to. Degrees of the frontier are summed up first; the ends of the
 * vertices' lists, merged with the edges, are then cut into equal tiles (as in spmv). In a tile
 * each thread finds its edges' vertices by a search in shared memory, all loads of a thread are in
 * flight together, and found vertices leave the block side by side, with one atomic a tile.
 */
// arch: sm_75
#include "device.h"
#include "frontier.h"
#define BLOCK 256 // tune: 128 256
#define PER_THREAD 8 // tune: 4 8
#define ITEMS (BLOCK * PER_THREAD) /* list ends and edges of a tile */
#define GROUP 256                  /* vertices whose degrees a block sums up */

/* Before the step: what lies where --------------------------------------------------------------*/

/* Inclusive sums over the block's GROUP or 1024 threads. A barrier. */
DEVICE i32 scan_block(i32 value, i32 *of_warp)
{
    u32 lane = lane_id(), warp = thread_x() / 32;
    for (u32 lanes = 1; lanes < 32; lanes *= 2) {
        i32 below = shuffle_up_i32(value, lanes);
        value += lane >= lanes ? below : 0;
    }
    if (lane == 31)
        of_warp[warp] = value;
    sync_block();
    i32 before = 0;
    for (u32 i = 0; i < warp; i++)
        before += of_warp[i];
    return before + value;
}

/* For each vertex of the frontier where its list starts, and where it ends among its group's. */
KERNEL __launch_bounds__(GROUP) sum_degrees(const i32 *offsets, const i32 *frontier, i64 count,
                                            i32 *starts, i32 *ends, i32 *totals)
{
    __shared__ i32 of_warp[GROUP / 32];
    i64 i = global_thread();
    i32 first = 0, end = 0;
    if (i < count) {
        i32 vertex = frontier[i];
        first = load_cached_i32(offsets + vertex);
        end = load_cached_i32(offsets + vertex + 1);
    }
    i32 sum = scan_block(end - first, of_warp);
    if (i < count) {
        starts[i] = first;
        ends[i] = sum;
    }
    if (thread_x() == GROUP - 1)
        totals[block_x()] = sum;
}

/* One block: totals of groups become what lies before them; behind the last, the sum of all. */
KERNEL __launch_bounds__(1024) sum_groups(i32 *totals, i64 groups)
{
    __shared__ i32 of_warp[32], carried;
    i32 before = 0;
    for (i64 first = 0; first < groups; first += 1024) {
        i64 i = first + thread_x();
        i32 total = i < groups ? totals[i] : 0, sum = scan_block(total, of_warp);
        if (i < groups)
            totals[i] = before + sum - total;
        if (thread_x() == 1023)
            carried = before + sum;
        sync_block();
        before = carried;
        sync_block();
    }
    if (thread_x() == 0)
        totals[groups] = before;
}

/* The step --------------------------------------------------------------------------------------*/

typedef struct {
    const i32 *starts, *ends, *totals;
    i64 count; /* of the frontier */
} lists;

/* Edges of the frontier up to the end of list i. */
DEVICE i32 end_of(lists l, i64 i)
{
    if (i < 0)
        return 0;
    return i < l.count ? load_cached_i32(l.ends + i) + load_cached_i32(l.totals + i / GROUP)
                       : 0x7fffffff;
}

/* How many lists end before point d of the merge; the whole warp looks at 32 places at a time. */
DEVICE i64 lists_before(lists l, i64 edges, i64 d)
{
    i64 low = d > edges ? d - edges : 0, high = least(d, l.count);
    while (low < high) {
        i64 step = (high - low + 31) / 32, at = low + (lane_id() + 1) * step - 1;
        bool ends_before = at < high && end_of(l, at) <= d - at - 1;
        i64 passed = count_bits(warp_ballot(ends_before));
        high = least(high, low + (passed + 1) * step - 1);
        low += passed * step;
    }
    return low;
}

typedef struct {
    i32 end[ITEMS + BLOCK];   /* of lists, counted from the tile's first edge */
    i32 shift[ITEMS + BLOCK]; /* from an edge of the tile to its place in neighbours */
    i32 found[ITEMS];
    u32 found_count, place;
    i64 first_list;
} shared_state;

/* Lists from `list` on that end before point `until`, and one more; returns how many. A barrier. */
DEVICE i32 take_lists(shared_state *shared, lists l, i64 list, i32 first_edge, i64 until)
{
    i32 count = 0;
    u32 more;
    do {
        i64 i = list + count + thread_x();
        i32 end = end_of(l, i), r = count + (i32)thread_x();
        shared->end[r] = end - first_edge;
        if (i < l.count)
            shared->shift[r] = load_cached_i32(l.starts + i) - end_of(l, i - 1) + first_edge;
        more = block_count(end + i + 1 <= until);
        count += (i32)more;
    } while (more == BLOCK);
    return count;
}

/* The lowest list whose end lies behind edge p. */
DEVICE i32 list_of(const i32 *end, i32 count, i32 p)
{
    i32 low = 0, high = count;
    while (low < high) {
        i32 middle = (low + high) / 2;
        if (end[middle] <= p)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

DEVICE void visit(shared_state *shared, i32 lists_here, i32 edges, const i32 *neighbours, i32 level,
                  i32 *distance)
{
    i32 neighbour[PER_THREAD];
    bool unseen[PER_THREAD];
#pragma unroll
    for (i32 k = 0; k < PER_THREAD; k++) {
        i32 p = (i32)thread_x() + k * BLOCK;
        neighbour[k] =
            p < edges ? (i32)load_stream_u32(neighbours + p +
                                             shared->shift[list_of(shared->end, lists_here, p)])
                      : -1;
    }
#pragma unroll
    for (i32 k = 0; k < PER_THREAD; k++)
        unseen[k] = neighbour[k] >= 0 && looks_unseen(distance, neighbour[k]);
#pragma unroll
    for (i32 k = 0; k < PER_THREAD; k++) {
        bool found = unseen[k] && claim(distance, neighbour[k], level);
        u32 lanes = warp_ballot(found), place = 0;
        if (lanes != 0 && lane_id() == 0)
            place = shared_add_u32(&shared->found_count, count_bits(lanes));
        place = shuffle_u32(place, 0) + count_bits(lanes & lanes_below());
        if (found)
            shared->found[place] = neighbour[k];
    }
}

/* What was found goes to the next frontier, as one piece. */
DEVICE void leave_found(shared_state *shared, i32 *next, u32 *next_count)
{
    sync_block();
    u32 count = shared->found_count;
    if (thread_x() == 0 && count > 0)
        shared->place = atomic_add_u32(next_count, count);
    sync_block();
    for (u32 k = thread_x(); k < count; k += BLOCK)
        next[shared->place + k] = shared->found[k];
    if (thread_x() == 0)
        shared->found_count = 0;
}

KERNEL __launch_bounds__(BLOCK)
    expand(const i32 *starts, const i32 *ends, const i32 *totals, const i32 *neighbours, i64 count,
           i32 level, i32 *distance, i32 *next, u32 *next_count)
{
    __shared__ shared_state shared;
    lists l = {starts, ends, totals, count};
    i64 edges = totals[(count + GROUP - 1) / GROUP], items = count + edges;
    i64 tiles = (items + ITEMS - 1) / ITEMS;
    i64 tile = tiles * block_x() / blocks_x(), last = tiles * (block_x() + 1) / blocks_x();
    if (thread_x() < 32) {
        i64 found = lists_before(l, edges, tile * ITEMS);
        if (thread_x() == 0) {
            shared.first_list = found;
            shared.found_count = 0;
        }
    }
    sync_block();
    i64 list = shared.first_list;
    for (; tile < last; tile++) {
        i64 until = least(items, (tile + 1) * ITEMS);
        i32 first_edge = (i32)(tile * ITEMS - list);
        i32 lists_here = take_lists(&shared, l, list, first_edge, until);
        list += lists_here;
        visit(&shared, lists_here, (i32)(until - list) - first_edge, neighbours, level, distance);
        leave_found(&shared, next, next_count);
    }
}
