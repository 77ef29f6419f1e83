/*
 * path.c: paths and joins of a warp: how lanes part, meet again, call, return and exit. What a
 * frame holds when it is new is in frame.c. The invariants J1-J4 are in core.h. Nothing here knows
 * what instructions compute.
 */
#include "simt/core.h"

#include <stdlib.h>

/* Pools ------------------------------------------------------------------------------------------
 */

static struct simt_join *join_new(struct simt_warp_state *warp)
{
    struct simt_join *join = warp->free_joins;
    if (join) {
        warp->free_joins = join->parent;
    } else {
        join = lk_alloc_zeroed(sizeof(*join));
        join->older = warp->all_joins;
        warp->all_joins = join;
    }
    *join = (struct simt_join){.older = join->older};
    return join;
}

static struct simt_frame *frame_new(struct simt_warp_state *warp,
                                    const struct simt_function *function)
{
    struct simt_frame *frame = warp->free_frames;
    if (frame) {
        warp->free_frames = frame->parent;
    } else {
        frame = lk_alloc_zeroed(sizeof(*frame));
        frame->older = warp->all_frames;
        warp->all_frames = frame;
    }
    if (frame->capacity < function->frame_bytes) {
        free(frame->regs);
        frame->capacity = function->frame_bytes;
        frame->regs = aligned_alloc(64, (frame->capacity + 63) & ~63u);
        if (!frame->regs)
            abort();
        memset(frame->regs, 0, frame->capacity);
        frame->function = NULL;
    }
    return frame;
}

static void join_free(struct simt_warp_state *warp, struct simt_join *join)
{
    if (!join->at && join->frame) { /* J4 */
        join->frame->parent = warp->free_frames;
        warp->free_frames = join->frame;
    }
    join->parent = warp->free_joins;
    warp->free_joins = join;
}

static struct simt_path *path_new(struct simt_warp_state *warp)
{
    for (int i = 0; i < SIMT_LANES; i++)
        if (warp->paths[i].state == SIMT_PATH_FREE) {
            memset(&warp->paths[i], 0, sizeof(warp->paths[i]));
            warp->paths[i].state = SIMT_PATH_READY;
            warp->path_count++;
            return &warp->paths[i];
        }
    abort(); /* 32 lanes make at most 32 paths, each with a lane of its own */
}

static void path_free(struct simt_warp_state *warp, struct simt_path *path)
{
    path->state = SIMT_PATH_FREE;
    warp->path_count--;
}

/* Paths
 * ---------------------------------------------------------------------------------------------- */

/* A warp at the first instruction of the kernel; its pools may be left from an earlier block. */
void simt_warp_start(struct simt_warp_state *warp, struct simt_block *block, uint32_t index)
{
    const struct simt_launch_state *launch = block->launch;
    uint32_t threads = launch->threads_per_block - index * SIMT_LANES;
    uint32_t mask = threads >= SIMT_LANES ? SIMT_ALL : (1u << threads) - 1;
    if (!warp->entry_frame)
        warp->entry_frame = frame_new(warp, launch->entry);
    warp->w.block = block;
    warp->w.granules = launch->machine->memory.granules;
    warp->w.arena = launch->machine->memory.base;
    warp->w.index = index;
    warp->w.live = mask;
    warp->w.carry = 0;
    warp->next_path = 0;
    warp->turn = (struct simt_turn){0};
    warp->wgmma = (struct simt_wgmma){0};
    warp->waiting.lanes = warp->waiting.let_go = 0;
    warp->late.count = warp->late.groups = 0;
    warp->late.gave_way = false;
    warp->registers = 0;
    for (int i = 0; i < SIMT_LANES; i++)
        warp->paths[i].state = SIMT_PATH_FREE;
    warp->path_count = 0;
    struct simt_path *path = path_new(warp);
    path->mask = mask;
    path->ip = launch->entry->entry;
    path->frame = warp->entry_frame;
    path->frame->local_base = 0;
    path->frame->local_top = launch->entry->local_bytes;
    path->frame->parent = NULL;
    simt_frame_fill(warp, path->frame, launch->entry);
    if (launch->local_stride) { /* an earlier block may have used more than the kernel's own */
        uint32_t own = launch->entry->local_bytes, used = warp->local_used;
        warp->local_used = 0;
        simt_local_clear(warp, SIMT_ALL, 0, used > own ? used : own);
    }
}

struct simt_path *simt_path_ready(struct simt_warp_state *warp)
{
    for (uint32_t k = 0; k < SIMT_LANES; k++) {
        struct simt_path *path = &warp->paths[(warp->next_path + k) % SIMT_LANES];
        if (path->state == SIMT_PATH_READY) {
            warp->next_path = (warp->next_path + k) % SIMT_LANES;
            return path;
        }
    }
    return NULL;
}

/* Makes a path the one that bodies work on. */
void simt_path_enter(struct simt_warp_state *warp, struct simt_path *path)
{
    warp->w.path = path;
    warp->w.regs = path->frame->regs;
    warp->w.path_mask = warp->w.mask = path->mask;
}

/* Lanes that have all come to a join, or are let go from it, go on as a path. */
static struct simt_path *leave_join(struct simt_warp_state *warp, struct simt_join *join,
                                    uint32_t lanes)
{
    struct simt_path *path = path_new(warp);
    path->mask = lanes;
    path->join = join->parent;
    path->ip = join->at ? join->at : join->frame->return_to;
    path->frame = join->at ? join->frame : join->frame->parent;
    return path;
}

static void copy_places(struct simt_warp_state *warp, const struct simt_frame *from,
                        const struct simt_place *source, struct simt_frame *to,
                        const struct simt_place *target, uint32_t lanes)
{
    uint32_t bytes = source->bytes < target->bytes ? source->bytes : target->bytes;
    uint32_t stride = warp->w.block->launch->local_stride;
    bool is_predicate = source->in_register && source->bytes == 0;
    if (is_predicate != (target->in_register && target->bytes == 0))
        return; /* a call through a pointer to a function with another signature */
    if (is_predicate) {
        const uint32_t *a = (const uint32_t *)(const void *)(from->regs + source->offset);
        uint32_t *d = (uint32_t *)(void *)(to->regs + target->offset);
        *d = (*d & ~lanes) | (*a & lanes);
        return;
    }
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        uint8_t *local = warp->local + (size_t)lane * stride;
        const uint8_t *a = source->in_register ? from->regs + source->offset + lane * source->bytes
                                               : local + from->local_base + source->offset;
        uint8_t *d = target->in_register ? to->regs + target->offset + lane * target->bytes
                                         : local + to->local_base + target->offset;
        memcpy(d, a, bytes);
    }
}

/* A join whose lanes have all come (or exited): they go on; empty joins disappear, upwards. */
static void settle(struct simt_warp_state *warp, struct simt_join *join)
{
    while (join && join->arrived == join->mask) {
        struct simt_join *parent = join->parent;
        if (join->mask)
            leave_join(warp, join, join->mask);
        bool empty = join->mask == 0;
        join_free(warp, join);
        if (!empty)
            return;
        join = parent;
    }
}

/* Lanes that leave a path for a place of their own. */
struct simt_path *simt_path_part(struct simt_warp_state *warp, struct simt_path *path,
                                 uint32_t lanes, const struct simt_inst *ip)
{
    struct simt_path *other = path_new(warp);
    other->mask = lanes;
    other->ip = ip;
    other->frame = path->frame;
    other->join = path->join;
    path->mask &= ~lanes;
    return other;
}

/* Lanes taken go to target, the others to rest_ip; they meet again at `at` (NULL: nowhere). */
const struct simt_inst *simt_split(struct simt_warp *w, const struct simt_inst *target,
                                   uint32_t taken, const struct simt_inst *rest_ip,
                                   const struct simt_inst *at)
{
    uint32_t rest = w->path_mask & ~taken;
    if (rest == 0)
        return target;
    struct simt_warp_state *warp = simt_state(w);
    struct simt_path *path = w->path;
    if (at && !(path->join && path->join->at == at && path->join->frame == path->frame)) {
        struct simt_join *join = join_new(warp);
        join->parent = path->join;
        join->at = at;
        join->frame = path->frame;
        join->mask = w->path_mask;
        path->join = join;
    }
    if (at && target == at) {
        path->join->arrived |= taken;
        path->mask = rest;
    } else if (at && rest_ip == at) {
        path->join->arrived |= rest;
        path->mask = taken;
    } else {
        simt_path_part(warp, path, rest, rest_ip);
    }
    w->path_mask = path->mask;
    return path->mask == taken ? target : rest_ip;
}

const struct simt_inst *simt_reconverge(struct simt_warp *w, const struct simt_inst *in)
{
    struct simt_warp_state *warp = simt_state(w);
    struct simt_path *path = w->path;
    warp->hidden++;
    for (;;) {
        struct simt_join *join = path->join;
        if (!join || join->at != in || join->frame != path->frame)
            return in + 1;
        join->arrived |= path->mask;
        if (join->arrived != join->mask) {
            path_free(warp, path);
            return NULL;
        }
        path->mask = w->path_mask = w->mask = join->mask;
        path->join = join->parent;
        join_free(warp, join);
    }
}

/* Lanes that wait for path at the innermost join that has any go on without it. */
static bool let_go(struct simt_warp_state *warp, struct simt_path *path)
{
    for (struct simt_join *join = path->join; join; join = join->parent)
        if (join->arrived) {
            leave_join(warp, join, join->arrived);
            join->mask &= ~join->arrived;
            join->arrived = 0;
            return true;
        }
    return false;
}

/* When a path has used up its time, others get theirs; lanes that wait for it at a join are let go
 * if it seems to wait for them (it polls memory), or if it has run for very long. */
void simt_path_expire(struct simt_warp_state *warp, struct simt_path *path)
{
    enum { LONG = 1 << 24 };
    path->ran += (uint32_t)warp->ran;
    warp->next_path = (uint32_t)(path - warp->paths + 1) % SIMT_LANES;
    if (warp->sync_ops == 0 && path->ran < LONG)
        return;
    path->ran = 0;
    let_go(warp, path);
}

/* Lanes that wait for paths of the warp, which poll without using up their time, go on, at every
 * join: the innermost may have some each time. */
void simt_paths_let_go(struct simt_warp_state *warp)
{
    uint32_t mask = 0; /* a path that is let go takes a free place: those are not looked at */
    for (int i = 0; i < SIMT_LANES; i++)
        mask |= (uint32_t)(warp->paths[i].state != SIMT_PATH_FREE) << i;
    for (; mask; mask &= mask - 1)
        while (let_go(warp, &warp->paths[__builtin_ctz(mask)]))
            ;
}

/* A warp with nothing to run, of which a path waits (in that state) for lanes that wait for it at a
 * join: they are let go. False: there are none. */
bool simt_path_unblock(struct simt_warp_state *warp, enum simt_path_state state)
{
    for (int i = 0; i < SIMT_LANES; i++)
        if (warp->paths[i].state == state && let_go(warp, &warp->paths[i]))
            return true;
    return false;
}

const struct simt_inst *simt_exit(struct simt_warp *w, const struct simt_inst *in)
{
    struct simt_warp_state *warp = simt_state(w);
    struct simt_path *path = w->path;
    uint32_t lanes = w->mask;
    w->live &= ~lanes;
    path->mask &= ~lanes;
    struct simt_join *innermost = path->join;
    for (struct simt_join *join = innermost; join; join = join->parent)
        join->mask &= ~lanes;
    bool ended = path->mask == 0;
    if (ended) {
        path_free(warp, path);
        settle(warp, innermost);
    }
    /* Some lanes may be waiting for lanes that have exited: .sync waits and barriers are checked
     * again.
     */
    for (int i = 0; warp->path_count && i < SIMT_LANES; i++)
        if (warp->paths[i].state == SIMT_PATH_SYNC)
            warp->paths[i].state = SIMT_PATH_READY;
    simt_barrier_check_all(w->block);
    if (ended)
        return NULL;
    w->path_mask = path->mask;
    return in + 1;
}

/* Joins above an unfinished one can become complete by an exit only through the path's own chain,
 * so settle from the innermost join is enough: an outer join still waits for the inner one's lanes.
 */

const struct simt_inst *simt_enter_call(struct simt_warp *w, const struct simt_inst *in,
                                        const struct simt_call *call,
                                        const struct simt_function *callee, uint32_t lanes)
{
    struct simt_warp_state *warp = simt_state(w);
    struct simt_path *path = w->path;
    struct simt_frame *caller = path->frame;
    uint32_t base = (caller->local_top + 15) & ~15u;
    uint32_t bytes = callee->local_bytes < SIMT_CALL_BYTES ? SIMT_CALL_BYTES : callee->local_bytes;
    if ((uint64_t)base + bytes > w->block->launch->local_stride)
        return simt_raise(w, in, SIMT_FAULT_ILLEGAL_ADDRESS, __builtin_ctz(lanes),
                          "the call stack is full (%u bytes per thread)",
                          w->block->launch->local_stride);
    if (lanes != w->path_mask) { /* the others wait behind the call, at its reconverge */
        struct simt_join *join = join_new(warp);
        join->parent = path->join;
        join->at = in + 1;
        join->frame = caller;
        join->mask = w->path_mask;
        join->arrived = w->path_mask & ~lanes;
        path->join = join;
        path->mask = lanes;
    }
    struct simt_frame *frame = frame_new(warp, callee);
    frame->parent = caller;
    frame->call = call;
    frame->return_to = in + 1;
    frame->local_base = base;
    frame->local_top = base + bytes;
    simt_frame_fill(warp, frame, callee);
    simt_local_clear(warp, lanes, base, bytes);
    uint32_t count =
        call->argument_count < callee->param_count ? call->argument_count : callee->param_count;
    for (uint32_t i = 0; i < count; i++)
        copy_places(warp, caller, &call->arguments[i], frame, &callee->params[i], lanes);
    struct simt_join *join = join_new(warp);
    join->parent = path->join;
    join->frame = frame;
    join->mask = lanes;
    path->join = join;
    path->frame = frame;
    simt_path_enter(warp, path);
    return callee->entry;
}

const struct simt_inst *simt_return(struct simt_warp *w, const struct simt_inst *in)
{
    struct simt_warp_state *warp = simt_state(w);
    struct simt_path *path = w->path;
    struct simt_frame *frame = path->frame;
    if (!frame->parent)
        return simt_exit(w, in);
    uint32_t lanes = w->mask;
    const struct simt_function *callee = frame->function;
    uint32_t count = frame->call->return_count < callee->return_count ? frame->call->return_count
                                                                      : callee->return_count;
    for (uint32_t i = 0; i < count; i++)
        copy_places(warp, frame, &callee->returns[i], frame->parent, &frame->call->returns[i],
                    lanes);
    /* Joins inside the callee that these lanes will not come to any more. */
    struct simt_join *join = path->join, *innermost = join;
    while (join->at || join->frame != frame) {
        join->mask &= ~lanes;
        join = join->parent;
    }
    join->arrived |= lanes;
    path->mask &= ~lanes;
    if (path->mask) {
        w->path_mask = path->mask;
        return in + 1;
    }
    path_free(warp, path);
    /* Settle only up to the return join: from there on the lanes are not gone. */
    while (innermost != join && innermost->arrived == innermost->mask) {
        struct simt_join *parent = innermost->parent;
        bool empty = innermost->mask == 0;
        if (!empty)
            leave_join(warp, innermost, innermost->mask);
        join_free(warp, innermost);
        if (!empty)
            return NULL;
        innermost = parent;
    }
    if (join->arrived == join->mask)
        settle(warp, join);
    return NULL;
}

/* Paths at the same place in the same frame under the same join become one. */
void simt_paths_merge(struct simt_warp_state *warp, struct simt_path *into)
{
    for (int i = 0; warp->path_count > 1 && i < SIMT_LANES; i++) {
        struct simt_path *path = &warp->paths[i];
        if (path != into && path->state == SIMT_PATH_READY && path->ip == into->ip &&
            path->frame == into->frame && path->join == into->join) {
            into->mask |= path->mask;
            path_free(warp, path);
        }
    }
}
