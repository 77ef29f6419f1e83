/*
 * stuck.c: words the deadlock of a block or cluster: every line at which threads wait, and what
 * each of them waits for.
 */
#include "simt/children.h"
#include "simt/cluster.h"

enum { LINES_MOST = 12 }; /* of a message */

/* Threads of a block that wait at one place for one thing. */
struct wait {
    struct simt_warp_state *warp;
    struct simt_path *path;
    const struct simt_inst *in;
    /* The message's own line is the first of these. */
    enum {
        WAIT_REGISTERS,
        WAIT_PRODUCTS,
        WAIT_MBARRIER,
        WAIT_POLL,
        WAIT_CLUSTER,
        WAIT_BARRIER,
        WAIT_SYNC
    } kind;
    uint64_t address, phase; /* of an mbarrier, */
    uint32_t barrier;        /* or its number */
    uint32_t threads;
    int lane; /* the first of them */
};

struct waits {
    struct wait items[LINES_MOST];
    uint32_t count, left_off;
};

static void add_wait(struct waits *waits, const struct wait *wait)
{
    for (uint32_t i = 0; i < waits->count; i++) {
        struct wait *other = &waits->items[i];
        if (other->in == wait->in && other->warp->w.block == wait->warp->w.block &&
            other->address == wait->address && other->phase == wait->phase &&
            other->barrier == wait->barrier) {
            other->threads += wait->threads;
            return;
        }
    }
    if (waits->count < LINES_MOST)
        waits->items[waits->count++] = *wait;
    else
        waits->left_off += wait->threads;
}

static bool is_poll(const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_ATOM:
    case PTX_OP_ATOM_NOFTZ:
    case PTX_OP_ATOM_CAS:
    case PTX_OP_ATOM_VEC:
    case PTX_OP_LD_SYNC:
        return true;
    default:
        return inst->op == PTX_OP_LD && ptx_has(inst, PTX_MOD_VOLATILE);
    }
}

/* A load that may poll too, in a loop that has nothing else. */
static bool is_load(const struct ptx_inst *inst)
{
    return (inst->op == PTX_OP_LD || inst->op == PTX_OP_LD_NC) && !ptx_has(inst, PTX_MOD_PARAM) &&
           !ptx_has(inst, PTX_MOD_CONST);
}

static const struct simt_inst *nearest(const struct simt_code *code, const struct simt_path *path,
                                       bool (*is_wanted)(const struct ptx_inst *inst))
{
    enum { FAR = 64 };
    const struct simt_inst *in = path->ip, *end = code->insts + code->inst_count;
    for (ptrdiff_t i = 0; i < FAR; i++) {
        if (in - code->insts >= i && (in - i == path->vain.in || is_wanted(in[-i].ptx)))
            return in - i;
        if (end - in > i && (in + i == path->vain.in || is_wanted(in[i].ptx)))
            return in + i;
    }
    return NULL;
}

/* A turn ends anywhere in a loop: the poll, or the failed wait, that is nearest to it; or else a
 * load, or where it ended. */
static const struct simt_inst *nearest_poll(const struct simt_code *code,
                                            const struct simt_path *path)
{
    const struct simt_inst *in = nearest(code, path, is_poll);
    in = in ? in : nearest(code, path, is_load);
    return in ? in : path->ip;
}

/* What a path that can run waits for; false: nothing that is known. */
static bool describe(struct wait *wait, bool polls)
{
    const struct simt_path *path = wait->path;
    wait->in = polls ? nearest_poll(wait->warp->w.block->launch->code, path) : path->vain.in;
    if (wait->in && wait->in == path->vain.in) {
        wait->address = path->vain.address;
        wait->phase = path->vain.phase;
        wait->kind = wait->in->ptx->op == PTX_OP_SETMAXNREG   ? WAIT_REGISTERS
                     : wait->in->ptx->op == PTX_OP_WGMMA_WAIT ? WAIT_PRODUCTS
                                                              : WAIT_MBARRIER;
        return true;
    }
    wait->kind = WAIT_POLL;
    return polls;
}

static void collect(struct simt_block *block, bool polls, struct waits *waits)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct simt_warp_state *warp = &block->warps[i];
        for (int k = 0; k < SIMT_LANES; k++) {
            struct simt_path *path = &warp->paths[k];
            struct wait wait = {.warp = warp, .path = path, .in = path->ip};
            if (path->state == SIMT_PATH_FREE || !path->mask)
                continue;
            wait.lane = __builtin_ctz(path->mask);
            wait.threads = (uint32_t)__builtin_popcount(path->mask);
            if (path->state == SIMT_PATH_BARRIER) {
                wait.in = path->ip - 1;
                wait.barrier = path->barrier;
                wait.kind = path->barrier == SIMT_CLUSTER_BARRIER ? WAIT_CLUSTER : WAIT_BARRIER;
            } else if (path->state == SIMT_PATH_SYNC) {
                wait.kind = WAIT_SYNC;
            } else if (!describe(&wait, polls)) {
                continue;
            }
            add_wait(waits, &wait);
        }
    }
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void add_line_number(struct lk_buf *text, const struct ptx_module *module,
                            const struct simt_inst *in)
{
    if (!in->ptx->loc || in->ptx->loc >= module->loc_count) {
        lk_buf_printf(text, "PTX line %u", in->ptx->line);
        return;
    }
    const struct ptx_loc *loc = &module->locs[in->ptx->loc];
    while (loc->inlined_at && loc->inlined_at < module->loc_count)
        loc = &module->locs[loc->inlined_at];
    const char *file = loc->file < module->file_count ? module->files[loc->file] : "?";
    const char *slash = strrchr(file, '/');
    lk_buf_printf(text, "%s:%u", slash ? slash + 1 : file, loc->line);
}

static void add_mbarrier(struct lk_buf *text, const struct wait *wait)
{
    struct simt_block *own = wait->warp->w.block;
    uint32_t rank, offset, count;
    struct simt_block *const *blocks = simt_cluster_blocks(&own, &count);
    simt_shared_split(wait->address, &rank, &offset);
    lk_buf_printf(text, "phase %u of the mbarrier at 0x%x", (unsigned)wait->phase, offset);
    const struct simt_block *block = rank < count ? blocks[rank] : own;
    if (offset + 8 > block->shared_end)
        return;
    struct simt_mbarrier barrier;
    memcpy(&barrier, block->shared + offset, 8);
    int32_t bytes = simt_mbarrier_bytes(&barrier);
    if (!barrier.ready) {
        lk_buf_printf(text, ", which is not initialised");
        return;
    }
    uint32_t pending = barrier.pending, expected = barrier.expected;
    lk_buf_printf(text, ":");
    if (pending || !bytes)
        lk_buf_printf(text, " %u of %u arrival%s missing", pending, expected, plural(expected));
    if (bytes)
        lk_buf_printf(text, "%s %d byte%s %s", pending ? "," : "", bytes < 0 ? -bytes : bytes,
                      bytes == 1 || bytes == -1 ? "" : "s",
                      bytes < 0 ? "more have come than were expected" : "missing");
}

static void add_cluster(struct lk_buf *text, struct simt_block *own)
{
    uint32_t count, missing = 0;
    struct simt_block *const *blocks = simt_cluster_blocks(&own, &count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < blocks[i]->warp_count; k++) {
            const struct simt_warp_state *warp = &blocks[i]->warps[k];
            missing += (uint32_t)__builtin_popcount(warp->w.live & ~warp->cluster_arrived);
        }
    lk_buf_printf(text, "the cluster's barrier: %u thread%s missing", missing, plural(missing));
}

static void add_wait_line(struct lk_buf *text, const struct wait *wait)
{
    struct simt_block *block = wait->warp->w.block;
    lk_buf_printf(text, "\n  ");
    add_line_number(text, block->launch->kernel->ptx->module, wait->in);
    lk_buf_printf(text, ": %u thread%s of block (%u,%u,%u) wait%s for ", wait->threads,
                  plural(wait->threads), block->index[0], block->index[1], block->index[2],
                  wait->threads == 1 ? "s" : "");
    switch (wait->kind) {
    case WAIT_REGISTERS:
        lk_buf_printf(text, "registers (%s %u) that no other warp gives back", wait->in->ptx->text,
                      (unsigned)wait->in->ptx->operands[0].imm);
        break;
    case WAIT_PRODUCTS:
        lk_buf_printf(text, "products (%s) that other warps of the warpgroup do not execute",
                      wait->in->ptx->text);
        break;
    case WAIT_POLL:
        if (is_poll(wait->in->ptx) || is_load(wait->in->ptx))
            lk_buf_printf(text, "a change of what %s reads", wait->in->ptx->text);
        else
            lk_buf_printf(text, "nothing: they go round in a loop");
        break;
    case WAIT_MBARRIER:
        add_mbarrier(text, wait);
        break;
    case WAIT_CLUSTER:
        add_cluster(text, block);
        break;
    case WAIT_BARRIER:
        lk_buf_printf(text, "barrier %u of the block", wait->barrier);
        break;
    case WAIT_SYNC:
        lk_buf_printf(text, "other lanes of the warp (.sync)");
        break;
    }
}

static void raise_plain(const struct wait *wait)
{
    bool barrier = wait->kind == WAIT_BARRIER;
    simt_path_enter(wait->warp, wait->path);
    simt_raise(&wait->warp->w, wait->in, barrier ? SIMT_FAULT_DEADLOCK : SIMT_FAULT_SYNC_DEADLOCK,
               wait->lane, "deadlock: every thread of the block waits; this one at %s",
               barrier ? "a barrier that the others never reach"
                       : "a .sync whose other lanes never come");
}

static bool waits_for_children(const struct simt_launch_state *launch)
{
    struct simt_children *children = launch->launch->children;
    return launch->watch && children && simt_children_any_ready(children);
}

/* polls: some of its threads read memory again and again, which never changes. */
void simt_raise_stuck(struct simt_block *block, bool polls)
{
    struct waits waits = {0};
    struct lk_buf text = {0};
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&block, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!blocks[i]->has_ended)
            collect(blocks[i], polls, &waits);
    if (!waits.count)
        return;
    bool plain = count == 1 && waits.count == 1;
    const struct wait *first = &waits.items[0];
    for (uint32_t i = 0; i < waits.count; i++) {
        plain &= waits.items[i].kind == WAIT_BARRIER || waits.items[i].kind == WAIT_SYNC;
        if (waits.items[i].kind < first->kind)
            first = &waits.items[i];
    }
    if (plain) {
        raise_plain(&waits.items[0]);
        return;
    }
    for (uint32_t i = 0; i < waits.count; i++)
        add_wait_line(&text, &waits.items[i]);
    if (waits.left_off)
        lk_buf_printf(&text, "\n  and %u more threads elsewhere", waits.left_off);
    simt_path_enter(first->warp, first->path);
    const char *what = count > 1 ? "cluster" : "block";
    struct lk_buf since = {0};
    if (block->launch->asks_outside)
        lk_buf_printf(&since, "nothing has changed for %u seconds",
                      block->launch->machine->options.patience);
    else
        lk_buf_printf(&since, "nothing outside can end it");
    if (polls)
        simt_raise(&first->warp->w, first->in, SIMT_FAULT_LIVELOCK, first->lane,
                   "deadlock: the launch does nothing but wait, and %s; in this %s:%s%s",
                   since.data, what, text.data,
                   waits_for_children(block->launch)
                       ? "\n  Under check, kernels that it has launched begin when it has ended; "
                         "'lockstep run' runs them now"
                       : "");
    else
        simt_raise(&first->warp->w, first->in,
                   first->kind == WAIT_SYNC ? SIMT_FAULT_SYNC_DEADLOCK : SIMT_FAULT_DEADLOCK,
                   first->lane, "deadlock: every thread of the %s waits, and nothing can end it:%s",
                   what, text.data);
    lk_buf_free(&text);
    lk_buf_free(&since);
}
