/*
 * frontier.h: what the steps of a breadth-first search share. A vertex nobody has been at has
 * distance -1; whoever swaps that for the level first has found it, and puts it on the next
 * frontier.
 */
#define UNSEEN 0xffffffffu

/* The next distances start as the old ones, the next frontier empty. */
KERNEL __launch_bounds__(256)
    start(const i32 *distance, i32 *next_distance, i64 vertices, u32 *next_count)
{
    for (i64 v = global_thread(); v < vertices; v += global_threads())
        next_distance[v] = distance[v];
    if (global_thread() == 0)
        *next_count = 0;
}

/* A plain look comes before the atomic: most neighbours have been seen. */
DEVICE bool looks_unseen(const i32 *distance, i32 vertex)
{
    return load_relaxed_u32((const u32 *)distance + vertex) == UNSEEN;
}
DEVICE bool claim(i32 *distance, i32 vertex, i32 level)
{
    return compare_and_swap_u32((u32 *)distance + vertex, UNSEEN, (u32)level) == UNSEEN;
}

/* Lanes that found a vertex put it on the list, with one atomic; all lanes take part. */
DEVICE void append(bool found, i32 vertex, i32 *list, u32 *count)
{
    u32 lanes = warp_ballot(found), place = 0;
    if (lanes == 0)
        return;
    if (lane_id() == 0)
        place = atomic_add_u32(count, count_bits(lanes));
    place = shuffle_u32(place, 0) + count_bits(lanes & lanes_below());
    if (found)
        list[place] = vertex;
}
