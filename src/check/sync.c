/*
 * sync.c: barriers that not all threads reach, and .sync masks that name the wrong lanes.
 * An exited thread is not missed anywhere: early returns are common and work. A thread that skips a
 * barrier or .sync and never comes back to it is an error.
 */
#include "check/check.h"

#include <stdlib.h>

static const struct check_subject no_memory = {.space = PTX_SPACE_REG};

/* Does the path from here end the thread at once? */
static bool leads_to_exit(const struct simt_inst *in, const struct simt_frame *frame)
{
    for (int i = 0; in && i < 8; i++) {
        if (in->flags & SIMT_FLAG_HIDDEN)
            in++;
        else if (in->ptx->op == PTX_OP_BRA && in->guard == SIMT_NO_GUARD)
            in = in->target;
        else if (in->ptx->op == PTX_OP_RET && frame->parent) {
            in = frame->return_to;
            frame = frame->parent;
        } else {
            return in->ptx->op == PTX_OP_RET || in->ptx->op == PTX_OP_EXIT;
        }
    }
    return false;
}

/* Lanes of the path's warp that are let go first, because the path waits; NULL: there are none. */
static const struct simt_join *waiting_join(const struct simt_path *path)
{
    for (const struct simt_join *join = path->join; join; join = join->parent)
        if (join->arrived)
            return join;
    return NULL;
}

void check_sync_stuck(struct simt_watcher *watcher, struct simt_warp *w, bool barrier)
{
    struct simt_warp_state *state = simt_state(w);
    struct check_warp *warp = check_warp_of(w);
    (void)watcher;
    for (uint32_t i = 0, left = state->path_count; left && i < SIMT_LANES; i++) {
        const struct simt_path *path = &state->paths[i];
        left -= path->state != SIMT_PATH_FREE;
        if (path->state != (barrier ? SIMT_PATH_BARRIER : SIMT_PATH_SYNC))
            continue;
        const struct simt_join *join = waiting_join(path);
        if (!join)
            continue;
        const struct simt_inst *at = join->at ? join->at : join->frame->return_to;
        const struct simt_frame *frame = join->at ? join->frame : join->frame->parent;
        if (leads_to_exit(at, frame))
            continue;
        uint32_t lanes = barrier ? join->arrived : join->arrived & path->sync_members;
        if (!lanes)
            continue;
        warp->skipped_lanes = lanes;
        warp->skipped_at = barrier ? path->ip - 1 : path->ip;
        warp->skipped_by = at;
        return;
    }
}

static const struct simt_inst *visible(const struct simt_inst *in)
{
    while (in->flags & SIMT_FLAG_HIDDEN)
        in++;
    return in;
}

/* .sync -------------------------------------------------------------------------------------------
 */

void check_sync_gathered(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                         uint32_t lanes)
{
    struct check_warp *warp = check_warp_of(w);
    if (!warp->skipped_lanes || warp->skipped_at != in)
        return;
    uint32_t missing = warp->skipped_lanes & ~lanes;
    warp->skipped_lanes = 0;
    if (!missing)
        return;
    struct check_side side = check_side_of(w, in, __builtin_ctz(w->mask), in->ptx->text);
    struct check_side other =
        check_side_of(w, visible(warp->skipped_by), __builtin_ctz(missing), "passes by");
    check_report(check, CHECK_SYNC_MASK, &no_memory, &side, &other,
                 "sync mask: the mask of %s names lanes 0x%08x of the warp, which never execute it",
                 in->ptx->text, missing);
}

/* Barriers
 * ----------------------------------------------------------------------------------------- */

/* bar.sync and .aligned forms are for whole warps; barrier.sync is for any set of threads. */
static bool is_aligned(const struct ptx_inst *ptx)
{
    return strcmp(ptx_op_infos[ptx->op].mnemonic, "bar") == 0 || ptx_has(ptx, PTX_MOD_ALIGNED);
}

/* Copies of one barrier, as unrolled loops have them, are one place. */
static bool same_place(const struct check *check, const struct simt_inst *a,
                       const struct simt_inst *b)
{
    const struct ptx_module *module = check->launch->kernel->ptx->module;
    uint32_t at = a->ptx->loc, other = b->ptx->loc;
    if (a == b || !at || !other)
        return true;
    for (int depth = 0; at != other && depth < 64; depth++) {
        if (!at || !other || at >= module->loc_count || other >= module->loc_count)
            return false;
        const struct ptx_loc *x = &module->locs[at], *y = &module->locs[other];
        if (x->line != y->line || x->column != y->column || x->file != y->file)
            return false;
        at = x->inlined_at;
        other = y->inlined_at;
    }
    return true;
}

/* Lanes of one warp cannot wait at two barriers at once: on a GPU the warp hangs, or they count as
 * arrived where they are not. */
static void compare_lanes(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                          uint32_t id)
{
    struct simt_warp_state *state = simt_state(w);
    for (uint32_t i = 0, left = state->path_count; left && i < SIMT_LANES; i++) {
        const struct simt_path *path = &state->paths[i];
        left -= path->state != SIMT_PATH_FREE;
        if (path == w->path || path->state != SIMT_PATH_BARRIER)
            continue;
        const struct simt_inst *there = path->ip - 1;
        if (!is_aligned(there->ptx) || (path->barrier == id && same_place(check, in, there)))
            continue;
        struct check_side side = check_side_of(w, in, __builtin_ctz(w->mask), "waits");
        struct check_side other = check_side_of(w, there, __builtin_ctz(path->sync_lanes), "waits");
        if (path->barrier == id)
            check_report(check, CHECK_BARRIER, &no_memory, &side, &other,
                         "divergent barrier: lanes of one warp wait at barrier %u in different "
                         "places",
                         id);
        else
            check_report(check, CHECK_BARRIER, &no_memory, &side, &other,
                         "divergent barrier: lanes of one warp wait at barrier %u here, at barrier "
                         "%u elsewhere",
                         id, path->barrier);
        return;
    }
}

/* Number and count of a barrier must be the same in all lanes. */
static void compare_operands(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    int first = __builtin_ctz(w->mask);
    const uint32_t *ids = SIMT_SLOT(const uint32_t, in->a);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (ids[lane] == ids[first])
            continue;
        struct check_side side = check_side_of(w, in, lane, "waits");
        check_report(check, CHECK_BARRIER, &no_memory, &side, NULL,
                     "divergent barrier: lane %d of the warp names barrier %u, lane %d barrier %u",
                     lane, ids[lane], first, ids[first]);
        return;
    }
}

static void before_barrier(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    uint32_t id = SIMT_SLOT(const uint32_t, in->a)[__builtin_ctz(w->mask)];
    if (is_aligned(in->ptx)) {
        compare_operands(check, w, in);
        compare_lanes(check, w, in, id);
    }
    if (in->ptx->op != PTX_OP_BAR_ARRIVE && in->ptx->op != PTX_OP_BARRIER_ARRIVE)
        return;
    if (id < SIMT_BARRIERS)
        w->block->check->arrived[id][w->index] = check->time ? check->time : 1;
    check_close_segment(check_warp_of(w));
}

void check_sync_before(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    uint32_t slot;
    if (ptx_op_infos[in->ptx->op].group == PTX_GROUP_BARRIER) {
        before_barrier(check, w, in);
        return;
    }
    if (!check_mask_slot(in, &slot))
        return;
    const uint32_t *masks = SIMT_SLOT(const uint32_t, slot);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (masks[lane] >> lane & 1)
            continue;
        struct check_side side = check_side_of(w, in, lane, in->ptx->text);
        check_report(check, CHECK_SYNC_MASK, &no_memory, &side, NULL,
                     "sync mask: lane %d executes %s with mask 0x%08x, which does not name it",
                     lane, in->ptx->text, masks[lane]);
        return;
    }
}

static void compare_places(struct check *check, struct simt_block *block, uint32_t id)
{
    const struct simt_inst *first = NULL;
    struct check_side first_side = {0};
    for (uint32_t i = 0; i < block->warp_count; i++)
        for (uint32_t k = 0, left = block->warps[i].path_count; left && k < SIMT_LANES; k++) {
            const struct simt_path *path = &block->warps[i].paths[k];
            left -= path->state != SIMT_PATH_FREE;
            if (path->state != SIMT_PATH_BARRIER || path->barrier != id)
                continue;
            const struct simt_inst *in = path->ip - 1;
            struct check_side side =
                check_side_of(&block->warps[i].w, in, __builtin_ctz(path->sync_lanes), "waits");
            if (!first) {
                first = in;
                first_side = side;
            } else if (is_aligned(in->ptx) && is_aligned(first->ptx) &&
                       !same_place(check, in, first)) {
                check_report(check, CHECK_BARRIER, &no_memory, &first_side, &side,
                             "divergent barrier: threads of the block wait at barrier %u in "
                             "different places",
                             id);
                return;
            }
        }
}

/* Can the instruction at `to` run after the one at `from`, in the same function? */
static bool is_reachable(const struct simt_code *code, uint32_t from, uint32_t to)
{
    uint8_t *seen = lk_alloc_zeroed(code->inst_count + 1);
    uint32_t *stack = lk_alloc((code->inst_count + 1) * 2 * sizeof(*stack)), depth = 0;
    stack[depth++] = from + 1;
    while (depth) {
        uint32_t at = stack[--depth];
        if (at >= code->inst_count || seen[at])
            continue;
        seen[at] = 1;
        const struct simt_inst *in = &code->insts[at];
        bool hidden = in->flags & SIMT_FLAG_HIDDEN, guarded = in->guard != SIMT_NO_GUARD;
        enum ptx_op op = in->ptx->op;
        if (!hidden && op == PTX_OP_BRX) {
            for (uint32_t k = 0; k < in->list[0] && depth < code->inst_count; k++)
                stack[depth++] = in->list[k + 2];
            continue;
        }
        if (!hidden && op == PTX_OP_BRA)
            stack[depth++] = (uint32_t)(in->target - code->insts);
        if (hidden || guarded || (op != PTX_OP_BRA && op != PTX_OP_RET && op != PTX_OP_EXIT))
            stack[depth++] = at + 1;
    }
    bool found = seen[to];
    free(stack);
    free(seen);
    return found;
}

/* Warps that have ended without any barrier, but not by an early return: they ran what comes after
 * the barrier where others wait. */
static void find_absent(struct check *check, struct simt_block *block, uint32_t id)
{
    const struct simt_code *code = check->launch->code;
    const struct simt_barrier *barrier = &block->barriers[id];
    const struct simt_inst *in = NULL;
    struct check_side side = {0};
    for (uint32_t i = 0; i < block->warp_count && !in; i++)
        for (uint32_t k = 0; barrier->lanes[i] && k < SIMT_LANES; k++) {
            const struct simt_path *path = &block->warps[i].paths[k];
            if (path->state != SIMT_PATH_BARRIER || path->barrier != id)
                continue;
            in = path->ip - 1;
            side = check_side_of(&block->warps[i].w, in, __builtin_ctz(path->sync_lanes), "waits");
            break;
        }
    for (uint32_t i = 0; in && is_aligned(in->ptx) && i < block->warp_count; i++) {
        const struct check_warp *warp = &block->check->warps[i];
        uint32_t number = (uint32_t)(in - code->insts);
        if (barrier->lanes[i] || block->warps[i].w.live || warp->barriers || !warp->last_access)
            continue;
        if (check_is_known(check, CHECK_BARRIER, in, &code->insts[warp->last_access]))
            return;
        if (!is_reachable(code, number, warp->last_access) ||
            is_reachable(code, warp->last_access, number))
            continue;
        struct check_side other =
            check_side_of(&block->warps[i].w, &code->insts[warp->last_access], 0, "passes by");
        check_report(check, CHECK_BARRIER, &no_memory, &side, &other,
                     "divergent barrier: some warps of the block wait at barrier %u, others go on "
                     "without it",
                     id);
        return;
    }
}

void check_sync_barrier(struct check *check, struct simt_block *block, uint32_t id)
{
    struct simt_barrier *barrier = &block->barriers[id];
    bool absent = false;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        block->check->warps[i].barriers += barrier->lanes[i] != 0;
        absent |= !barrier->lanes[i];
    }
    if (absent && !barrier->expected)
        find_absent(check, block, id);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct check_warp *warp = &block->check->warps[i];
        struct simt_warp *w = &block->warps[i].w;
        if (!warp->skipped_lanes || !barrier->lanes[i] ||
            ptx_op_infos[warp->skipped_at->ptx->op].group != PTX_GROUP_BARRIER)
            continue;
        uint32_t missing = warp->skipped_lanes & ~barrier->lanes[i];
        warp->skipped_lanes = 0;
        if (!missing || !is_aligned(warp->skipped_at->ptx))
            continue;
        struct check_side side =
            check_side_of(w, warp->skipped_at, __builtin_ctz(barrier->lanes[i]), "waits");
        struct check_side other =
            check_side_of(w, visible(warp->skipped_by), __builtin_ctz(missing), "passes by");
        check_report(check, CHECK_BARRIER, &no_memory, &side, &other,
                     "divergent barrier: some threads wait at barrier %u, others of the same warp "
                     "never reach it",
                     id);
    }
    /* Barrier 0 is __syncthreads(). Who names another barrier by its number means warps to meet
     * there from different branches. */
    if (!barrier->expected && id == 0)
        compare_places(check, block, id);
}

/* Faults
 * ------------------------------------------------------------------------------------------- */

static bool fault_kind(enum simt_fault_kind fault, enum check_kind *kind)
{
    switch (fault) {
    case SIMT_FAULT_TIMEOUT:
    case SIMT_FAULT_LIVELOCK:
        *kind = CHECK_TIMEOUT;
        return true;
    case SIMT_FAULT_BARRIER:
    case SIMT_FAULT_DEADLOCK:
        *kind = CHECK_BARRIER;
        return true;
    case SIMT_FAULT_CLUSTER_EXIT:
        *kind = CHECK_CLUSTER_EXIT;
        return true;
    case SIMT_FAULT_SYNC_DEADLOCK:
        *kind = CHECK_SYNC_MASK;
        return true;
    case SIMT_FAULT_MISALIGNED:
        *kind = CHECK_MISALIGNED;
        return true;
    case SIMT_FAULT_ILLEGAL_ADDRESS:
    case SIMT_FAULT_ILLEGAL_INSTRUCTION: /* an address outside of shared memory */
        *kind = CHECK_OUT_OF_BOUNDS;
        return true;
    default: /* asserts, traps and what is not supported: the program's own failures */
        return false;
    }
}

void check_sync_fault(struct check *check, struct simt_launch_state *launch)
{
    const struct simt_fault *fault = launch->fault;
    enum check_kind kind;
    if (!fault_kind(fault->kind, &kind))
        return;
    struct check_side side = {.in = launch->fault_at.in,
                              .block = launch->fault_at.block,
                              .thread = launch->fault_at.thread};
    if (fault->kind == SIMT_FAULT_DEADLOCK && side.in && check_is_told(check, kind, side.in))
        return; /* that is why */
    struct check_subject subject = no_memory;
    if (fault->kind == SIMT_FAULT_TIMEOUT)
        subject.limit = launch->machine->options.instruction_limit;
    check_report(check, kind, &subject, &side, NULL, "%.*s", (int)fault->what_length, fault->text);
}
