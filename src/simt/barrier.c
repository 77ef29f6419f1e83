/*
 * barrier.c: the sixteen barriers of a block.
 * Threads arrive lane by lane (sm_70 and later), so paths of one warp may arrive apart. A barrier
 * without a count waits for every thread that has not exited; with a count, a warp that has arrived
 * whole counts as 32, as it does on a GPU.
 */
#include "simt/clock.h"
#include "simt/cluster.h"
#include "simt/watch.h"

static struct simt_warp_state *warp_at(struct simt_block *block, uint32_t index)
{
    return &block->warps[index];
}

static bool is_complete(const struct simt_block *block, const struct simt_barrier *barrier)
{
    uint32_t arrived = barrier->extra;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        uint32_t live = block->warps[i].w.live, lanes = barrier->lanes[i];
        bool whole = (lanes & live) == live;
        if (!barrier->expected && !whole)
            return false;
        arrived += !lanes ? 0 : whole ? SIMT_LANES : (uint32_t)__builtin_popcount(lanes);
    }
    return !barrier->expected || arrived >= barrier->expected;
}

static void give_result(struct simt_warp_state *warp, const struct simt_path *path,
                        const struct simt_barrier *barrier)
{
    const struct simt_inst *in = path->ip - 1;
    uint8_t *slot = path->frame->regs + in->d;
    uint32_t lanes = path->sync_lanes, *d = (uint32_t *)(void *)slot;
    switch (in->ptx->op) {
    case PTX_OP_BAR_RED_POPC:
    case PTX_OP_BARRIER_RED_POPC:
        for (int i = 0; i < SIMT_LANES; i++)
            d[i] = lanes >> i & 1 ? barrier->count_true : d[i];
        break;
    case PTX_OP_BAR_RED_BOOL:
    case PTX_OP_BARRIER_RED_BOOL: {
        bool all = barrier->count_true == barrier->waiting, any = barrier->count_true != 0;
        bool value = ptx_has(in->ptx, PTX_MOD_AND) ? all : any;
        *d = value ? *d | lanes : *d & ~lanes;
        break;
    }
    default:
        break;
    }
}

/* Who came early has waited for the last. */
static void meet(struct simt_block *block, const struct simt_barrier *barrier)
{
    uint64_t latest = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        uint64_t now = barrier->lanes[i] ? simt_clock(&block->warps[i]) : 0;
        latest = now > latest ? now : latest;
    }
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (barrier->lanes[i])
            block->warps[i].clock += latest - simt_clock(&block->warps[i]);
}

static void release(struct simt_block *block, uint32_t id)
{
    struct simt_barrier *barrier = &block->barriers[id];
    meet(block, barrier);
    if (block->launch->watch)
        simt_watch_barrier(block, id);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct simt_warp_state *warp = warp_at(block, i);
        for (uint32_t k = 0, left = warp->path_count; left && k < SIMT_LANES; k++) {
            struct simt_path *path = &warp->paths[k];
            left -= path->state != SIMT_PATH_FREE;
            if (path->state != SIMT_PATH_BARRIER || path->barrier != id)
                continue;
            give_result(warp, path, barrier);
            path->state = SIMT_PATH_READY;
            simt_paths_merge(warp, path);
        }
    }
    memset(barrier, 0, sizeof(*barrier));
}

void simt_barrier_check_all(struct simt_block *block)
{
    for (uint32_t id = 0; id < SIMT_BARRIERS; id++)
        if (block->barriers[id].in_use && is_complete(block, &block->barriers[id]))
            release(block, id);
    if (block->launch->cluster_size > 1 || block->launch->code->uses_cluster)
        simt_cluster_check(block);
}

void simt_part_from_rest(struct simt_warp_state *warp, const struct simt_inst *in)
{
    uint32_t rest = warp->w.path_mask & ~warp->w.mask;
    if (rest)
        simt_path_part(warp, warp->w.path, rest, in + 1);
}

const struct simt_inst *simt_barrier_arrive(struct simt_warp *w, const struct simt_inst *in,
                                            enum simt_barrier_kind kind, uint32_t id,
                                            uint32_t expected, uint32_t predicate)
{
    struct simt_warp_state *warp = simt_state(w);
    struct simt_block *block = w->block;
    struct simt_path *path = w->path;
    int lane = __builtin_ctz(w->mask);
    if (id >= SIMT_BARRIERS)
        return simt_raise(w, in, SIMT_FAULT_BARRIER, lane,
                          "barrier %u: a block has barriers 0 to 15", id);
    if (expected % SIMT_LANES)
        return simt_raise(w, in, SIMT_FAULT_BARRIER, lane,
                          "barrier %u: a count of %u threads is not a multiple of the warp size",
                          id, expected);
    struct simt_barrier *barrier = &block->barriers[id];
    if (!barrier->in_use) {
        barrier->in_use = true;
        barrier->expected = expected;
    } else if (barrier->expected != expected) {
        return simt_raise(w, in, SIMT_FAULT_BARRIER, lane,
                          "barrier %u: waits for %u threads here and for %u elsewhere", id,
                          expected, barrier->expected);
    }
    warp->waiting.lanes &= ~w->mask;
    warp->waiting.let_go &= ~w->mask;
    uint32_t again = barrier->lanes[w->index] & w->mask;
    barrier->extra += (uint32_t)__builtin_popcount(again);
    barrier->lanes[w->index] |= w->mask;
    barrier->waiting += (uint32_t)__builtin_popcount(w->mask);
    barrier->count_true += (uint32_t)__builtin_popcount(predicate & w->mask);
    if (kind == SIMT_BARRIER_ARRIVE) {
        if (is_complete(block, barrier))
            release(block, id);
        return in + 1;
    }
    simt_part_from_rest(warp, in);
    path->state = SIMT_PATH_BARRIER;
    path->barrier = id;
    path->ip = in + 1;
    path->sync_lanes = w->mask;
    if (!is_complete(block, barrier))
        return NULL;
    release(block, id);
    if (path->state != SIMT_PATH_READY) /* merged into another path of the warp */
        return NULL;
    simt_path_enter(warp, path);
    return in + 1;
}
