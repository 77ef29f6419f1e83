/*
 * watch_bulk.c: shows watchers the bytes of tensor copies and bulk reductions: each row of a box in
 * global memory, and where it lies in shared memory. One lane issues a copy, so every access has
 * that lane alone.
 */
#include "simt/tma.h"
#include "simt/watch.h"

struct telling {
    struct simt_watch *watch;
    struct watch_access *access;
    int lane;
    uint64_t addresses[SIMT_LANES];
    struct simt_block *target;    /* whose shared memory is written */
    const struct tma_copy *first; /* of the instruction's first lane; NULL: this is it */
};

static bool tell(struct telling *telling, enum ptx_space space, uint64_t address, uint32_t bytes,
                 bool is_read, bool is_write)
{
    struct watch_access *access = telling->access;
    uint32_t refused = 0;
    telling->addresses[telling->lane] = address;
    access->space = space;
    access->bytes = bytes;
    access->is_read = is_read;
    access->is_write = is_write;
    access->addresses = telling->addresses;
    access->block = is_write && telling->target ? telling->target : access->w->block;
    access->pattern = WATCH_SCATTERED;
    EACH_WATCHER(telling->watch, access) refused |= watcher->access(watcher, access);
    return !refused;
}

/* The block of the cluster that a copy goes to, if it is there: else the body raises a fault. */
static struct simt_block *target_of(struct simt_warp *w, uint32_t ranks)
{
    struct simt_block *own = w->block;
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&own, &count);
    struct simt_block *block = ranks ? blocks[__builtin_ctz(ranks)] : NULL;
    return block && !block->has_ended ? block : NULL;
}

/* A row that fills its pitch keeps its bytes together; of a narrower one each piece by itself. */
static bool tell_shared(struct telling *telling, const struct tma_copy *copy,
                        const struct tma_row *row, uint32_t bytes, bool is_write)
{
    if (bytes == copy->pitch || !copy->map.swizzle)
        return tell(telling, PTX_SPACE_SHARED, row->shared, bytes, !is_write, is_write);
    bool is_allowed = true;
    for (uint32_t at = 0; at < bytes; at += 16)
        is_allowed &= tell(telling, PTX_SPACE_SHARED, tma_swizzle(copy, row->shared + at), 16,
                           !is_write, is_write);
    return is_allowed;
}

/* loads: from global memory, for the first block of a multicast alone. */
static bool tell_box(struct telling *telling, const struct tma_copy *copy, bool loads, bool reduces)
{
    struct tma_walk walk;
    struct tma_row row;
    bool is_allowed = true;
    tma_walk_begin(copy, &walk);
    while (tma_walk_next(copy, &walk, &row)) {
        uint32_t bytes = row.end - row.first;
        if (bytes && (loads || !copy->is_load))
            is_allowed &= tell(telling, PTX_SPACE_GLOBAL, row.address + row.first, bytes,
                               copy->is_load || reduces, !copy->is_load);
        if (copy->is_load)
            is_allowed &= tell_shared(telling, copy, &row, copy->row_bytes, true);
        else if (bytes)
            is_allowed &= tell_shared(telling, copy, &row, bytes, false);
    }
    return is_allowed;
}

/* All lanes of a warp may store the same box, as CUTLASS's epilogues do: whichever is last, the
 * bytes are the same. */
static bool is_same_store(const struct tma_copy *copy, const struct tma_copy *first)
{
    return first && copy->map_address == first->map_address && copy->shared == first->shared &&
           memcmp(copy->at, first->at, sizeof(copy->at)) == 0;
}

static bool tell_tensor(struct telling *telling, struct simt_warp *w, const struct simt_inst *in,
                        struct tma_copy *copied)
{
    struct tma_copy copy;
    if (!tma_begin(w, in, telling->lane, &copy)) /* its body raises the fault again */
        return true;
    *copied = copy;
    if (in->ptx->op == PTX_OP_TMA_STORE && is_same_store(&copy, telling->first)) {
        telling->access->audience = WATCH_FOR_COUNTERS;
        bool is_allowed = tell_box(telling, &copy, true, false);
        telling->access->audience = WATCH_FOR_ALL;
        return is_allowed;
    }
    if (!tma_is_counted(in->ptx->op))
        return tell_box(telling, &copy, true, in->ptx->op == PTX_OP_TMA_REDUCE);
    uint32_t all = tma_targets(w, in, telling->lane).ranks;
    bool is_allowed = true;
    for (uint32_t ranks = all; ranks; ranks &= ranks - 1) {
        telling->target = target_of(w, ranks);
        if (telling->target)
            is_allowed &= tell_box(telling, &copy, ranks == all, false);
    }
    return is_allowed;
}

/* Reductions without a tensor, from shared memory. */
static bool tell_plain(struct telling *telling, struct simt_warp *w, const struct simt_inst *in)
{
    bool to_shared = in->ptx->op == PTX_OP_BULK_RED_S, narrow = in->flags & SIMT_FLAG_ADDRESS_32;
    int lane = telling->lane;
    uint32_t bytes = SIMT_SLOT(const uint32_t, in->c)[lane], most = w->block->shared_bytes + 16;
    uint64_t from = tma_shared_address(w, in->b, in->counts[0] == 32, lane);
    uint64_t to = tma_address(w, in->a, narrow, lane) + (uint64_t)in->imm;
    if (to_shared) {
        struct tma_targets targets = tma_targets(w, in, lane);
        telling->target = target_of(w, targets.ranks);
        if (!telling->target) /* its body raises a fault */
            return true;
        to = targets.shared;
    }
    bytes = bytes < most ? bytes : most;
    bool may_read = tell(telling, PTX_SPACE_SHARED, from, bytes, true, false);
    bool may_write =
        tell(telling, to_shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL, to, bytes, true, true);
    return may_read && may_write;
}

/* tensormap.replace and ..cp_fenceproxy, which touch a map of 128 bytes; they are no bulk copies.
 */
static bool tell_map(struct telling *telling, struct simt_warp *w, const struct simt_inst *in)
{
    bool narrow = in->flags & SIMT_FLAG_ADDRESS_32, copies = in->ptx->op == PTX_OP_TENSORMAP_COPY;
    uint64_t to = tma_address(w, in->a, narrow, telling->lane) + (uint64_t)in->imm;
    bool is_shared = to >= SIMT_SHARED_WINDOW || (!copies && ptx_has(in->ptx, PTX_MOD_SHARED_CTA));
    if (is_shared)
        to = tma_shared_address(w, in->a, narrow, telling->lane) + (uint64_t)in->imm;
    bool is_allowed = true;
    telling->access->audience = WATCH_FOR_CHECKS;
    if (copies)
        is_allowed = tell(telling, PTX_SPACE_SHARED,
                          tma_shared_address(w, in->b, in->counts[0] == 32, telling->lane),
                          TENSORMAP_BYTES, true, false);
    return tell(telling, is_shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL, to, TENSORMAP_BYTES,
                !copies, true) &&
           is_allowed;
}

uint32_t simt_watch_bulk(struct simt_watch *watch, struct watch_access *access)
{
    struct simt_warp *w = access->w;
    const struct simt_inst *in = access->in;
    uint32_t all = access->mask, refused = 0;
    enum ptx_op op = in->ptx->op;
    struct tma_copy first = {0}, copied;
    if (op == PTX_OP_TENSORMAP_COPY) /* the warp does it once */
        all &= -all;
    for (uint32_t rest = all; rest; rest &= rest - 1) {
        bool is_first = rest == all;
        struct telling telling = {.watch = watch,
                                  .access = access,
                                  .lane = __builtin_ctz(rest),
                                  .first = is_first ? NULL : &first};
        bool is_allowed;
        access->mask = rest & -rest;
        if (op == PTX_OP_BULK_RED_G || op == PTX_OP_BULK_RED_S)
            is_allowed = tell_plain(&telling, w, in);
        else if (ptx_op_infos[op].mnemonic[0] == 't')
            is_allowed = tell_map(&telling, w, in);
        else
            is_allowed = tell_tensor(&telling, w, in, is_first ? &first : &copied);
        refused |= is_allowed ? 0 : access->mask;
        EACH_WATCHER(watch, bulk) watcher->bulk(watcher, w, in, telling.lane);
    }
    return refused;
}
