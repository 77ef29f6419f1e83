/*
 * async.c: mbarriers, copies in the background, and what the blocks of a cluster do to each other:
 * what these order, whether an mbarrier got the bytes that it expected, and whether a block may end
 * while another one still uses its shared memory.
 */
#include "check/check.h"

#include "simt/cluster.h"

#include <stdlib.h>

/* Where mbarriers lie ---------------------------------------------------------------------------
 */

/* The block of a shared address, and the offset there. Instructions for the block's own memory take
 * plain offsets too. */
static struct simt_block *place_of(const struct simt_warp *w, const struct simt_inst *in,
                                   uint64_t address, uint32_t *offset)
{
    struct simt_block *own = w->block;
    uint32_t rank;
    simt_shared_split(address, &rank, offset);
    const struct simt_cluster *cluster = own->cluster;
    bool is_generic = address >= SIMT_SHARED_WINDOW;
    if (!cluster || rank >= cluster->size ||
        (!is_generic && !ptx_has(in->ptx, PTX_MOD_SHARED_CLUSTER)))
        return own;
    return cluster->blocks[rank];
}

static uint64_t address_at(const struct simt_warp *w, uint32_t slot, bool narrow, int lane)
{
    return narrow ? SIMT_SLOT(const uint32_t, slot)[lane] : SIMT_SLOT(const uint64_t, slot)[lane];
}

struct check_mbarrier *check_mbarrier_at(struct check_block *block, uint32_t offset)
{
    for (uint32_t i = 0; i < block->mbarrier_count; i++)
        if (block->mbarriers[i].offset == offset)
            return &block->mbarriers[i];
    return NULL;
}

/* What the initialisation did is a write that all uses must come after. */
static void note_init(struct check *check, struct simt_warp *w, int lane, struct check_block *block,
                      uint32_t offset, const struct check_side *side)
{
    struct check_warp *warp = check_warp_of(w);
    struct check_mbarrier *mbarrier = check_mbarrier_at(block, offset);
    if (!mbarrier) {
        if (block->mbarrier_count == block->mbarrier_capacity) {
            block->mbarrier_capacity = block->mbarrier_capacity * 2 + 8;
            block->mbarriers =
                lk_realloc(block->mbarriers, block->mbarrier_capacity * sizeof(*block->mbarriers));
        }
        mbarrier = &block->mbarriers[block->mbarrier_count++];
    }
    if (!warp->segment)
        check_order_open_segment(check, w->block->check, w->index);
    uint32_t number = (uint32_t)(side->in - check->launch->code->insts);
    *mbarrier = (struct check_mbarrier){.offset = offset,
                                        .init = *side,
                                        .init_segment = warp->segment,
                                        .init_info = number << CHECK_INST_SHIFT | (uint32_t)lane};
}

/* Has the warp waited for this phase of the cluster's barrier, or learnt of a wait of its block's?
 * It cannot learn of a wait before that ends. Waits between the first and the last are not known.
 */
static bool has_waited(const struct check_block *block, uint32_t warp, uint32_t phase)
{
    const uint32_t *known = check_known_by(block, warp);
    for (uint32_t i = 0; i < block->warp_count; i++)
        for (int k = 0; k < 2; k++)
            if (block->warps[i].cluster_waits[k].phase >= phase &&
                (i == warp || known[i] >= block->warps[i].cluster_waits[k].segment))
                return true;
    return false;
}

static void note_wait(struct check *check, struct check_block *block, uint32_t warp)
{
    struct check_warp *of = &block->warps[warp];
    check_order_open_segment(check, block, warp);
    of->cluster_waits[1].phase = block->cluster_waited;
    of->cluster_waits[1].segment = of->segment;
    if (!of->cluster_waits[0].phase)
        of->cluster_waits[0] = of->cluster_waits[1];
}

void check_mbarrier_used(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                         int lane, const struct check_mbarrier *mbarrier)
{
    uint32_t shown = mbarrier->shown_phase;
    if (mbarrier->init_segment < check->first_segment ||
        (shown && has_waited(w->block->check, w->index, shown)) ||
        check_order_is_before(check, w->block->check, w->index, (uint32_t)lane,
                              mbarrier->init_segment, mbarrier->init_info) ||
        check_is_known(check, CHECK_RACE, in, mbarrier->init.in))
        return;
    struct check_side side = check_side_of(w, in, lane, "uses");
    struct check_subject subject = {.space = PTX_SPACE_SHARED, .address = mbarrier->offset};
    const char *remedy = mbarrier->init.block == side.block ? "__syncthreads() between the two"
                         : has_waited(w->block->check, w->index, 1)
                             ? "a relaxed arrival at the cluster's barrier shows it only after "
                               "fence.mbarrier_init"
                             : "cluster.sync() between the two";
    check_report(check, CHECK_RACE, &subject, &side, &mbarrier->init,
                 "race: use of the mbarrier at 0x%x, which another thread has initialised: nothing "
                 "makes this thread wait until it exists (%s)",
                 mbarrier->offset, remedy);
}

/* Bytes ------------------------------------------------------------------------------------------
 */

static void judge_bytes(struct check *check, const struct simt_block *block,
                        const struct check_mbarrier *mbarrier)
{
    struct simt_mbarrier state;
    if (mbarrier->offset + 8 > block->shared_end)
        return;
    memcpy(&state, block->shared + mbarrier->offset, 8);
    int32_t bytes = simt_mbarrier_bytes(&state);
    if (!state.ready || !bytes || mbarrier->is_judged)
        return;
    struct check_subject subject = {.space = PTX_SPACE_SHARED, .address = mbarrier->offset};
    const struct check_side *side = mbarrier->expect.in ? &mbarrier->expect : &mbarrier->init;
    const struct check_side *other = mbarrier->complete.in ? &mbarrier->complete : NULL;
    if (bytes > 0)
        check_report(check, CHECK_TX_COUNT, &subject, side, other,
                     "tx count: when the block ends, its mbarrier at 0x%x still expects %d bytes "
                     "that never came: expect_tx announces too many",
                     mbarrier->offset, bytes);
    else
        check_report(check, CHECK_TX_COUNT, &subject, side, other,
                     "tx count: %d bytes more came to the mbarrier at 0x%x than expect_tx "
                     "announces: its phases end before all of their bytes are there",
                     -bytes, mbarrier->offset);
}

void check_async_end(struct check *check, struct simt_block *block)
{
    if (check->launch->fault->kind != SIMT_OK)
        return;
    for (uint32_t i = 0; i < block->check->mbarrier_count; i++)
        judge_bytes(check, block, &block->check->mbarriers[i]);
    check_bulk_end(check, block);
}

/* Order ------------------------------------------------------------------------------------------
 */

/* The mbarrier's address of a counted store; false if it has none. Bulk copies are in bulk.c. */
static bool mbarrier_slot(const struct simt_inst *in, uint32_t *slot)
{
    switch (in->ptx->op) {
    case PTX_OP_ST_ASYNC:
        *slot = in->ptx->operands[1].kind == PTX_OPERAND_VECTOR ? in->b : in->c;
        return true;
    case PTX_OP_RED_ASYNC:
        *slot = in->c;
        return true;
    default:
        return false;
    }
}

void check_async_wrote(struct check *check, const struct watch_access *access)
{
    struct simt_warp *w = access->w;
    struct check_block *block = w->block->check, *place = access->block->check;
    uint32_t slot, offset;
    if (!mbarrier_slot(access->in, &slot))
        return;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t address = address_at(w, slot, access->in->counts[1] == 32, lane);
        place_of(w, access->in, address, &offset);
        check_order_pass_on(check, block, w->index, check_order_key(place, offset, false),
                            check->time);
        struct check_mbarrier *mbarrier = check_mbarrier_at(place, offset);
        if (mbarrier) {
            check_mbarrier_used(check, w, access->in, lane, mbarrier);
            mbarrier->complete = check_side_of(w, access->in, lane, "completes");
        }
    }
    check_close_segment(&block->warps[w->index]);
}

static void commit_copies(struct check *check, struct check_warp *warp)
{
    memmove(warp->commits + 1, warp->commits, sizeof(warp->commits) - sizeof(warp->commits[0]));
    warp->commits[0] = check->time;
    check_close_segment(warp);
}

static bool is_wait(enum ptx_op op)
{
    return op == PTX_OP_MBARRIER_TEST_WAIT || op == PTX_OP_MBARRIER_TRY_WAIT ||
           op == PTX_OP_MBARRIER_TEST_WAIT_PARITY || op == PTX_OP_MBARRIER_TRY_WAIT_PARITY;
}

static bool expects(enum ptx_op op)
{
    return op == PTX_OP_MBARRIER_EXPECT_TX || op == PTX_OP_MBARRIER_ARRIVE_TX ||
           op == PTX_OP_MBARRIER_ARRIVE_DROP_TX;
}

static void note_remote(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                        int lane, struct check_block *place);

/* After mbarrier.inval. */
static void look_for_end(struct check *check, struct check_block *owner, uint32_t offset,
                         const struct check_side *side)
{
    struct check_mbarrier *mbarrier = check_mbarrier_at(owner, offset);
    struct check_subject subject = {.space = PTX_SPACE_SHARED, .address = offset};
    if (!mbarrier || !mbarrier->end.in)
        return;
    check_report(check, CHECK_RACE, &subject, side, &mbarrier->end,
                 "race: use of the mbarrier at 0x%x after it was invalidated: put a barrier before "
                 "mbarrier.inval",
                 offset);
}

/* The wait is done before the mbarrier says so: a thread that goes on has seen the last arrival. A
 * relaxed arrival passes on what a fence before it ordered. */
static void use_mbarrier(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    struct check_block *block = w->block->check;
    struct check_warp *warp = &block->warps[w->index];
    bool waits = is_wait(in->ptx->op), relaxed = ptx_has(in->ptx, PTX_MOD_RELAXED);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t offset;
        uint64_t address = address_at(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane);
        struct simt_block *owner = place_of(w, in, address + (uint64_t)in->imm, &offset);
        uint64_t key = check_order_key(owner->check, offset, false);
        struct check_mbarrier *mbarrier = check_mbarrier_at(owner->check, offset);
        if (mbarrier)
            check_mbarrier_used(check, w, in, lane, mbarrier);
        if (mbarrier && expects(in->ptx->op))
            mbarrier->expect = check_side_of(w, in, lane, "expects");
        if (owner->check->has_ended_mbarriers && in->ptx->op != PTX_OP_MBARRIER_INVAL) {
            struct check_side side = check_side_of(w, in, lane, "uses");
            look_for_end(check, owner->check, offset, &side);
        }
        /* First, so that what the arrival passes on includes the use of the other block. */
        if (owner != w->block && !owner->has_ended)
            note_remote(check, w, in, lane, owner->check);
        if (waits) {
            check_order_take(check, block, w->index, key, false);
            if (owner == w->block)
                check_bulk_waited(check, w, in, lane, offset);
        } else if (!relaxed || warp->fence_block) {
            check_order_pass_on(check, block, w->index, key,
                                relaxed ? warp->fence_block : check->time);
        }
    }
    if (!waits)
        check_close_segment(warp);
}

/* Another thread asked this mbarrier for a phase that has not ended, and has done nothing else
 * since. */
static void look_for_waiters(struct check *check, struct simt_block *owner, uint32_t offset,
                             const struct check_side *side)
{
    const void *barrier = owner->shared + offset;
    for (uint32_t i = 0; i < owner->warp_count; i++) {
        const struct simt_warp_state *warp = &owner->warps[i];
        for (uint32_t rest = warp->waiting.lanes & warp->w.live; rest; rest &= rest - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(rest);
            struct check_subject subject = {.space = PTX_SPACE_SHARED, .address = offset};
            if (warp->waiting.at[lane] != barrier)
                continue;
            check_report(
                check, CHECK_RACE, &subject, side, NULL,
                "race: this %s the mbarrier at 0x%x while thread %u of the block still waits "
                "for its last phase: put a barrier between the two",
                side->does, offset, i * SIMT_LANES + lane);
            return;
        }
    }
}

/* Another thread has made this mbarrier, too, and nothing orders the two. */
static void look_for_maker(struct check *check, struct simt_warp *w, int lane,
                           const struct check_mbarrier *mbarrier, const struct check_side *side)
{
    struct check_subject subject = {.space = PTX_SPACE_SHARED, .address = mbarrier->offset};
    if (mbarrier->init_segment < check->first_segment ||
        check_order_is_before(check, w->block->check, w->index, (uint32_t)lane,
                              mbarrier->init_segment, mbarrier->init_info) ||
        check_is_known(check, CHECK_RACE, side->in, mbarrier->init.in))
        return;
    check_report(check, CHECK_RACE, &subject, side, &mbarrier->init,
                 "race: several threads initialise the mbarrier at 0x%x: let one thread do it",
                 mbarrier->offset);
}

/* mbarrier.init and mbarrier.inval. */
static void init_mbarriers(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    bool ends = in->ptx->op == PTX_OP_MBARRIER_INVAL;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t offset;
        uint64_t address = address_at(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane);
        struct simt_block *owner = place_of(w, in, address + (uint64_t)in->imm, &offset);
        struct check_side side = check_side_of(w, in, lane, ends ? "invalidates" : "initialises");
        if (check_mbarrier_at(owner->check, offset))
            look_for_waiters(check, owner, offset, &side);
        struct check_mbarrier *mbarrier = check_mbarrier_at(owner->check, offset);
        if (!ends && mbarrier && !mbarrier->end.in)
            look_for_maker(check, w, lane, mbarrier, &side);
        if (!ends)
            note_init(check, w, lane, owner->check, offset, &side);
        else if (mbarrier)
            mbarrier->end = side;
        owner->check->has_ended_mbarriers |= ends;
    }
}

void check_async_order(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    struct check_warp *warp = check_warp_of(w);
    uint32_t pending;
    switch (in->ptx->op) {
    case PTX_OP_CP_ASYNC_COMMIT:
        commit_copies(check, warp);
        break;
    case PTX_OP_CP_ASYNC_WAIT_GROUP:
        pending = (uint32_t)in->ptx->operands[0].imm;
        if (pending < sizeof(warp->commits) / sizeof(warp->commits[0])) {
            warp->waited =
                warp->commits[pending] > warp->waited ? warp->commits[pending] : warp->waited;
        }
        check_close_segment(warp);
        break;
    case PTX_OP_CP_ASYNC_WAIT_ALL:
        warp->waited = check->time;
        check_close_segment(warp);
        break;
    case PTX_OP_CP_ASYNC_MBARRIER:
        warp->waited = check->time;
        use_mbarrier(check, w, in);
        break;
    case PTX_OP_MBARRIER_INVAL:
        init_mbarriers(check, w, in);
        use_mbarrier(check, w, in);
        break;
    case PTX_OP_MBARRIER_INIT: /* it is made before anything is to be ordered by it */
        init_mbarriers(check, w, in);
        break;
    case PTX_OP_MBARRIER_PENDING:
    case PTX_OP_CP_BULK_PREFETCH:
        break;
    default:
        if (strcmp(ptx_op_infos[in->ptx->op].mnemonic, "mbarrier") == 0)
            use_mbarrier(check, w, in);
    }
}

/* The cluster's barrier --------------------------------------------------------------------------
 */

/* No shared address is as high. */
static uint64_t barrier_key(const struct simt_block *block)
{
    const struct simt_block *first = block->cluster ? block->cluster->blocks[0] : block;
    return check_order_key(first->check, 0xfffffffcu, false);
}

/* A relaxed arrival at the cluster's barrier shows the others nothing but the mbarriers that
 * fence.mbarrier_init came after. */
static void show_mbarriers(const struct check *check, struct check_block *block, uint32_t warp)
{
    for (uint32_t i = 0; i < block->mbarrier_count; i++) {
        struct check_mbarrier *mbarrier = &block->mbarriers[i];
        uint32_t segment = mbarrier->init_segment;
        if (!mbarrier->shown_phase && segment >= check->first_segment &&
            segment <= block->warps[warp].fence_init &&
            check->segment_warps[segment - check->segment_base] == block->first_warp + warp)
            mbarrier->shown_phase = block->cluster_phase + 1;
    }
}

void check_cluster_order(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    struct check_block *block = w->block->check;
    struct check_warp *warp = &block->warps[w->index];
    uint64_t key = barrier_key(w->block);
    if (in->ptx->op == PTX_OP_BARRIER_CLUSTER_WAIT) {
        block->cluster_waited =
            block->cluster_phase + ((simt_state(w)->cluster_arrived & w->mask) != 0);
        check_order_take(check, block, w->index, key, false);
        check_order_take_engines(block, w->index);
    } else if (in->ptx->op == PTX_OP_BARRIER_CLUSTER_ARRIVE) {
        uint32_t until = ptx_has(in->ptx, PTX_MOD_RELAXED) ? warp->fence_all : check->time;
        if (warp->fence_init)
            show_mbarriers(check, block, w->index);
        if (until)
            check_order_pass_on(check, block, w->index, key, until);
    }
    check_close_segment(warp);
    if (in->ptx->op == PTX_OP_BARRIER_CLUSTER_WAIT)
        note_wait(check, block, w->index);
}

static bool waits_for_cluster(const struct simt_warp_state *warp)
{
    for (int i = 0; i < SIMT_LANES; i++)
        if (warp->paths[i].state == SIMT_PATH_BARRIER &&
            warp->paths[i].barrier == SIMT_CLUSTER_BARRIER)
            return true;
    return false;
}

void check_cluster_barrier(struct simt_watcher *watcher, struct simt_block *block)
{
    struct check *check = (struct check *)watcher;
    uint64_t key = barrier_key(block);
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&block, &count);
    for (uint32_t i = 0; i < count; i++) {
        blocks[i]->check->cluster_phase++;
        for (uint32_t k = 0; k < blocks[i]->warp_count; k++)
            if (waits_for_cluster(&blocks[i]->warps[k])) {
                check_order_take(check, blocks[i]->check, k, key, false);
                check_order_take_engines(blocks[i]->check, k);
                check_close_segment(&blocks[i]->check->warps[k]);
            }
    }
}

/* Blocks that end --------------------------------------------------------------------------------
 */

static void note_remote(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                        int lane, struct check_block *place)
{
    struct check_block *block = w->block->check;
    uint32_t warp = block->first_warp + w->index, i = 0;
    if (!block->warps[w->index].segment)
        check_order_open_segment(check, block, w->index);
    while (i < place->remote_count && place->remotes[i].warp != warp)
        i++;
    if (i == place->remote_capacity) {
        place->remote_capacity = place->remote_capacity * 2 + 8;
        place->remotes =
            lk_realloc(place->remotes, place->remote_capacity * sizeof(*place->remotes));
    }
    place->remote_count += i == place->remote_count;
    uint32_t number = (uint32_t)(in - check->launch->code->insts);
    bool has_arrived = simt_state(w)->cluster_arrived >> lane & 1;
    place->remotes[i] = (struct check_remote){.warp = warp,
                                              .segment = block->warps[w->index].segment,
                                              .info = number << CHECK_INST_SHIFT | (uint32_t)lane,
                                              .phase = place->cluster_phase + has_arrived};
}

/* A block may use the shared memory of another one once that has begun. What an mbarrier counts
 * comes after the mbarrier's initialisation, or is reported for that. */
static void look_for_start(struct check *check, const struct watch_access *access, int lane)
{
    struct check_block *block = access->w->block->check;
    uint32_t slot;
    if (has_waited(block, access->w->index, 1) || mbarrier_slot(access->in, &slot) ||
        check_bulk_is(access->in->ptx) ||
        check_order_knows_block(block, access->w->index, access->block->check) ||
        check_is_known(check, CHECK_CLUSTER_START, access->in, NULL))
        return;
    struct check_side side = check_side_of(access->w, access->in, lane, "use");
    struct check_subject subject = {.space = PTX_SPACE_REG};
    check_report(check, CHECK_CLUSTER_START, &subject, &side, NULL,
                 "cluster start: block (%u,%u,%u) may not have begun when this thread of another "
                 "block uses its shared memory: nothing makes it wait (cluster.sync() before the "
                 "first use)",
                 access->block->index[0], access->block->index[1], access->block->index[2]);
}

void check_cluster_access(struct check *check, const struct watch_access *access, uint32_t mask)
{
    look_for_start(check, access, __builtin_ctz(mask));
    note_remote(check, access->w, access->in, __builtin_ctz(mask), access->block->check);
}

/* Does a thread of the block know that it is over? */
static bool is_known(const struct check *check, const struct check_block *block,
                     const struct check_remote *remote)
{
    if (remote->segment < check->first_segment || block->cluster_waited > remote->phase)
        return true;
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (check_order_is_before(check, block, i, 0, remote->segment, remote->info))
            return true;
    return false;
}

void check_cluster_exit(struct simt_watcher *watcher, struct simt_block *simt)
{
    struct check *check = (struct check *)watcher;
    const struct check_block *block = simt->check;
    uint32_t per_block = check->launch->warps_per_block;
    for (uint32_t i = 0; i < block->remote_count; i++) {
        const struct check_remote *remote = &block->remotes[i];
        if (is_known(check, block, remote))
            continue;
        struct check_side side = {
            .in = &check->launch->code->insts[remote->info >> CHECK_INST_SHIFT],
            .block = remote->warp / per_block,
            .thread = remote->warp % per_block * SIMT_LANES + (remote->info & CHECK_LANE),
            .does = "use"};
        struct check_subject subject = {.space = PTX_SPACE_REG};
        check_report(check, CHECK_CLUSTER_EXIT, &subject, &side, NULL,
                     "cluster exit: block (%u,%u,%u) may end before this thread of another block "
                     "has used its shared memory: nothing makes it wait (cluster.sync() before the "
                     "end)",
                     simt->index[0], simt->index[1], simt->index[2]);
    }
}
