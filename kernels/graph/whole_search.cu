/*
 * whole_search.cu: a whole breadth-first search in one cooperative launch. All blocks are resident
 * and wait for each other after each level, so that the host need not ask how large the next
 * frontier is: a level costs a barrier in place of launches and a copy back. Frontiers lie in two
 * lists that take turns; a warp takes a vertex.
 */
// arch: sm_75
#include "device.h"
#include "frontier.h"
#define BLOCK 256 // tune: 128 256 512
#define BLOCKS_PER_SM 4 // tune: 1 2 4

typedef struct {
    u32 arrived;
    u32 count[3]; /* of the frontiers of three levels in a row: read, filled, made empty */
} search_state;

/* All blocks. target counts arrivals on and on; it may wrap around. */
DEVICE void sync_grid(u32 *arrived, u32 *target)
{
    sync_block();
    *target += blocks_x();
    if (thread_x() == 0) {
        fence_gpu();
        atomic_add_u32(arrived, 1);
        while ((i32)(load_acquire_u32(arrived) - *target) < 0)
            ;
        fence_gpu();
    }
    sync_block();
}

DEVICE void expand_vertex(const i32 *offsets, const i32 *neighbours, i32 vertex, i32 level,
                          i32 *distance, i32 *next, u32 *next_count)
{
    i32 first = load_cached_i32(offsets + vertex), end = load_cached_i32(offsets + vertex + 1);
    for (i64 e = first; e < end; e += 32) {
        bool mine = e + lane_id() < end;
        i32 neighbour = mine ? load_cached_i32(neighbours + e + lane_id()) : 0;
        bool found = mine && looks_unseen(distance, neighbour) && claim(distance, neighbour, level);
        append(found, neighbour, next, next_count);
    }
}

/* state is zero at the beginning; list has room for two frontiers. */
KERNEL __launch_bounds__(BLOCK)
    search(const i32 *offsets, const i32 *neighbours, const i32 *source, i64 vertices,
           i32 *distance, i32 *list, search_state *state)
{
    u32 target = 0;
    for (i64 v = global_thread(); v < vertices; v += global_threads())
        distance[v] = v == *source ? 0 : -1;
    if (global_thread() == 0) {
        list[0] = *source;
        state->count[0] = 1;
    }
    sync_grid(&state->arrived, &target);
    for (i32 level = 0;; level++) {
        u32 count = load_relaxed_u32(&state->count[level % 3]);
        if (count == 0)
            break;
        if (global_thread() == 0)
            state->count[(level + 2) % 3] = 0;
        const i32 *frontier = list + level % 2 * vertices;
        i32 *next = list + (level + 1) % 2 * vertices;
        for (i64 i = global_thread() / 32; i < count; i += global_threads() / 32)
            expand_vertex(offsets, neighbours, frontier[i], level + 1, distance, next,
                          &state->count[(level + 1) % 3]);
        sync_grid(&state->arrived, &target);
    }
}
