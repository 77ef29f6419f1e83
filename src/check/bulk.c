/*
 * bulk.c: bulk copies, which engines do beside the threads. A copy is ordered after what its issuer
 * knows; others are ordered after it once they have waited: for its mbarrier, or for its group.
 * What it reads of shared memory must have been fenced (fence.proxy.async), and a tensor map that
 * the launch has changed must have been acquired (fence.proxy.tensormap).
 */
#include "check/check.h"
#include "simt/tma.h"

static void learn(uint32_t *known, uint32_t time)
{
    *known = *known > time ? *known : time;
}

bool check_bulk_is(const struct ptx_inst *ptx)
{
    switch (ptx->op) {
    case PTX_OP_CP_BULK_G2S:
    case PTX_OP_CP_BULK_S2G:
    case PTX_OP_CP_BULK_S2S:
    case PTX_OP_BULK_RED_G:
    case PTX_OP_BULK_RED_S:
    case PTX_OP_TMA_LOAD:
    case PTX_OP_TMA_LOAD_IM2COL:
    case PTX_OP_TMA_STORE:
    case PTX_OP_TMA_REDUCE:
        return true;
    default:
        return false;
    }
}

static uint32_t load_engine(struct check_block *block, uint64_t barrier)
{
    for (uint32_t i = 0; i < CHECK_LOAD_ENGINES; i++)
        if (block->engine_keys[i] == barrier + 1)
            return i;
    uint32_t engine = block->engine_next++ % CHECK_LOAD_ENGINES;
    block->engine_keys[engine] = barrier + 1;
    return engine;
}

static uint32_t store_engine(uint32_t warp, bool writes)
{
    return CHECK_LOAD_ENGINES + warp % CHECK_STORE_ENGINES * 2 + writes;
}

static bool goes_to(const struct tma_targets *targets, const struct simt_block *block)
{
    return targets->ranks >> simt_block_rank(block) & 1;
}

/* What a copy writes for another block of the cluster, that block learns of from its issuer; when
 * its source has been read, the issuer learns from whoever has waited for the copy's mbarrier. */
uint32_t check_bulk_segment(struct check *check, const struct watch_access *access)
{
    struct simt_warp *w = access->w;
    struct check_block *block = w->block->check;
    uint32_t engine, which = 0;
    if (tma_is_counted(access->in->ptx->op)) {
        struct tma_targets targets = tma_targets(w, access->in, __builtin_ctz(access->mask));
        bool is_own = goes_to(&targets, w->block) &&
                      (access->space != PTX_SPACE_SHARED || access->block == w->block);
        bool is_source = access->space == PTX_SPACE_SHARED && !access->is_write;
        which = is_own || is_source ? 0 : 2;
        engine = is_own      ? 1 + load_engine(block, targets.mbarrier)
                 : is_source ? 1 + store_engine(w->index, false)
                             : 0;
    } else {
        which = access->space != PTX_SPACE_SHARED;
        engine = 1 + store_engine(w->index, which);
    }
    uint32_t *segment = &check->engine_segments[which];
    if (*segment < check->segment_base ||
        check->segment_engines[*segment - check->segment_base] != engine)
        *segment = check_order_new_segment(check, block, w->index, engine);
    if (engine == 1 + store_engine(w->index, false)) {
        uint32_t lane = (uint32_t)__builtin_ctz(access->mask);
        block->warps[w->index].bulk_read = *segment;
        block->warps[w->index].bulk_read_info = access->number << CHECK_INST_SHIFT | lane;
    }
    return *segment;
}

static struct simt_mbarrier read_barrier(const struct simt_block *block, uint64_t at)
{
    struct simt_mbarrier barrier = {0};
    if (at % 8 == 0 && at + 8 <= block->shared_bytes)
        memcpy(&barrier, block->shared + at, 8);
    return barrier;
}

/* The report names who expects the bytes, and the copy that brings too many. */
static void report_bytes(struct check *check, struct check_side side, struct check_block *place,
                         uint64_t at, int64_t extra)
{
    struct check_mbarrier *mbarrier = check_mbarrier_at(place, (uint32_t)at);
    struct check_side other = {0};
    if (mbarrier) {
        bool is_copy = !strcmp(side.does, "completes");
        mbarrier->is_judged = true;
        other = is_copy ? side : mbarrier->complete;
        side = is_copy && mbarrier->expect.in ? mbarrier->expect : side;
    }
    const struct check_side *second = other.in && other.in != side.in ? &other : NULL;
    if (check_is_known(check, CHECK_TX_COUNT, side.in, second ? second->in : NULL))
        return;
    struct check_subject subject = {.space = PTX_SPACE_SHARED, .address = at};
    check_report(check, CHECK_TX_COUNT, &subject, &side, second,
                 "tx count: the copies of this phase bring %lld bytes more to the mbarrier at "
                 "0x%llx than expect_tx announces: the phase ends before all of them have come",
                 (long long)extra, (unsigned long long)at);
}

static uint32_t bytes_of(struct simt_warp *w, const struct simt_inst *in, int lane)
{
    struct tma_copy copy;
    if (!ptx_has(in->ptx, PTX_MOD_TENSOR))
        return SIMT_SLOT(const uint32_t, in->c)[lane];
    return tma_begin(w, in, lane, &copy) ? copy.bytes : 0;
}

/* The last arrival, after copies that bring more than it expects. */
static void check_arrival(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t at = tma_shared_address(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane) +
                      (uint64_t)in->imm;
        struct simt_mbarrier state = read_barrier(w->block, at);
        int64_t bytes =
            simt_mbarrier_bytes(&state) + (int64_t)SIMT_SLOT(const uint32_t, in->b)[lane];
        if (state.ready && state.pending == 1 && bytes < 0)
            report_bytes(check, check_side_of(w, in, lane, "expects"), w->block->check, at, -bytes);
    }
}

/* A bulk copy counts at its mbarrier through a proxy of its own. cuda::memcpy_async may do so for a
 * cuda::barrier without a fence: its documentation asks for none. */
static void look_for_fence(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                           int lane, const struct check_mbarrier *mbarrier)
{
    const struct check_block *block = w->block->check;
    uint32_t segment = mbarrier->init_segment;
    if (segment < check->first_segment)
        return;
    uint32_t warp = check->segment_warps[segment - check->segment_base] - block->first_warp;
    if (warp >= block->warp_count || segment <= block->fenced[warp] ||
        segment <= block->warps[warp].fence_init ||
        check_is_told(check, CHECK_UNFENCED, mbarrier->init.in) ||
        check_is_from_header(check->launch->kernel->ptx->module, in, "memcpy_async"))
        return;
    struct check_side side = check_side_of(w, in, lane, "completes");
    struct check_subject subject = {.space = PTX_SPACE_SHARED, .address = mbarrier->offset};
    check_report(check, CHECK_UNFENCED, &subject, &side, &mbarrier->init,
                 "missing fence: bulk copies need a fence.mbarrier_init or fence.proxy.async after "
                 "the initialisation of their mbarrier, here that at 0x%x: without it, PTX does "
                 "not promise that they see it",
                 mbarrier->offset);
}

/* The copy is told to the mbarrier at the same offset in each block that it goes to. */
static void tell_mbarriers(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                           int lane)
{
    struct tma_targets targets = tma_targets(w, in, lane);
    struct check_block *block = w->block->check;
    uint32_t count, size = bytes_of(w, in, lane);
    struct simt_block *own = w->block, *const *blocks = simt_cluster_blocks(&own, &count);
    for (uint32_t ranks = targets.ranks; ranks; ranks &= ranks - 1) {
        const struct simt_block *simt = blocks[__builtin_ctz(ranks)];
        struct check_block *place = simt->has_ended ? NULL : simt->check;
        if (!place)
            continue;
        struct simt_mbarrier state = read_barrier(simt, targets.mbarrier);
        struct check_mbarrier *mbarrier = check_mbarrier_at(place, targets.mbarrier);
        int64_t missing = simt_mbarrier_bytes(&state);
        struct check_side side = check_side_of(w, in, lane, "completes");
        if (state.ready && !state.pending && (int64_t)size > missing)
            report_bytes(check, side, place, targets.mbarrier, (int64_t)size - missing);
        if (mbarrier) {
            check_mbarrier_used(check, w, in, lane, mbarrier);
            if (place == block)
                look_for_fence(check, w, in, lane, mbarrier);
            mbarrier->complete = side;
        }
        if (place == block && check->engine_segments[0])
            block->engine_last[load_engine(block, targets.mbarrier)][state.phase] =
                check->engine_segments[0];
        uint32_t *source =
            &check_known_by(block, w->index)[block->warp_count + store_engine(w->index, false)];
        uint32_t known = *source;
        if (place != block)
            learn(source, check->engine_segments[0]);
        check_order_pass_on(check, block, w->index, check_order_key(place, targets.mbarrier, false),
                            check->time);
        *source = known;
    }
}

/* With more mbarriers than engines, one may have lost its engine to another, even between two
 * copies of a phase: then all copies are taken to be known. */
void check_bulk_waited(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                       int lane, uint64_t at)
{
    struct check_block *block = w->block->check;
    uint32_t *row = check_known_by(block, w->index) + block->warp_count;
    bool by_parity = in->ptx->op == PTX_OP_MBARRIER_TEST_WAIT_PARITY ||
                     in->ptx->op == PTX_OP_MBARRIER_TRY_WAIT_PARITY;
    struct simt_mbarrier then = {0};
    if (by_parity)
        then.phase = SIMT_SLOT(const uint32_t, in->b)[lane] & 1;
    else
        memcpy(&then, &SIMT_SLOT(const uint64_t, in->b)[lane], 8);
    bool shared = block->engine_next > CHECK_LOAD_ENGINES;
    for (uint32_t i = 0; i < CHECK_LOAD_ENGINES; i++)
        if (shared)
            learn(&row[i], check->time);
        else if (block->engine_keys[i] == at + 1)
            learn(&row[i], block->engine_last[i][then.phase]);
}

/* Is the tensor map as it was when the launch began, or acquired since? */
static void check_map(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                      int lane)
{
    bool is_load = in->ptx->op == PTX_OP_TMA_LOAD || in->ptx->op == PTX_OP_TMA_LOAD_IM2COL;
    uint64_t at =
        is_load ? tma_address(w, in->b, in->counts[0] == 32, lane)
                : tma_address(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane) + (uint64_t)in->imm;
    uint64_t offset = at - check->machine->memory.base;
    if (offset >= SIMT_ARENA)
        return;
    const struct check_chunk *chunk = check_chunk_at(check, offset);
    uint32_t first = (offset & (CHECK_CHUNK - 1)) / 4, most = CHECK_CHUNK / 4 - first;
    uint32_t count = most < TENSORMAP_BYTES / 4 ? most : TENSORMAP_BYTES / 4;
    const struct check_cell *cells = &chunk->cells[first];
    const struct check_block *block = w->block->check;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t segment = cells[i].write_segment;
        if (segment < check->first_segment)
            continue;
        const struct check_map_fence *fence = &block->maps[at / TENSORMAP_ALIGN % CHECK_MAPS];
        if (fence->address && (fence->address != at || fence->time >= segment))
            continue;
        struct check_side side = check_side_of(w, in, lane, "read");
        struct check_side other =
            check_side_of_segment(check, segment, cells[i].write_info, "write");
        if (check_is_known(check, CHECK_STALE_READ, in, other.in))
            return;
        struct check_subject subject = {.space = PTX_SPACE_GLOBAL, .address = at};
        check_report(check, CHECK_STALE_READ, &subject, &side, &other,
                     "stale read: the tensor map at 0x%llx was changed in this launch, and nothing "
                     "acquired it since (fence.proxy.tensormap::generic.acquire): the copy may use "
                     "the old one",
                     (unsigned long long)at);
        return;
    }
}

void check_bulk_hook(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in,
                     int lane)
{
    struct check *check = (struct check *)watcher;
    if (ptx_has(in->ptx, PTX_MOD_TENSOR))
        check_map(check, w, in, lane);
    if (tma_is_counted(in->ptx->op))
        tell_mbarriers(check, w, in, lane);
    memset(check->engine_segments, 0, sizeof(check->engine_segments));
    check_close_segment(check_warp_of(w));
}

static void wait_group(struct simt_warp *w, const struct simt_inst *in)
{
    struct check_block *block = w->block->check;
    struct check_warp *warp = &block->warps[w->index];
    uint32_t pending = (uint32_t)in->ptx->operands[0].imm;
    uint32_t *row = check_known_by(block, w->index) + block->warp_count;
    if (pending >= sizeof(warp->bulk_commits) / sizeof(warp->bulk_commits[0]))
        return;
    learn(&row[store_engine(w->index, false)], warp->bulk_commits[pending]);
    if (!ptx_has(in->ptx, PTX_MOD_READ))
        learn(&row[store_engine(w->index, true)], warp->bulk_commits[pending]);
    check_close_segment(warp);
}

/* Has nobody waited until the block's copies have read its shared memory? GPUs seem to keep it, and
 * published kernels rely on that: a remark. */
void check_bulk_end(struct check *check, struct simt_block *simt)
{
    const struct check_block *block = simt->check;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        const struct check_warp *warp = &block->warps[i];
        bool is_known = !warp->bulk_read;
        for (uint32_t k = 0; k < block->warp_count && !is_known; k++)
            is_known = check_known_by(block, k)[block->warp_count + store_engine(i, false)] >=
                       warp->bulk_read;
        if (is_known)
            continue;
        struct check_side side =
            check_side_of_segment(check, warp->bulk_read, warp->bulk_read_info, "reads");
        if (check_is_known(check, CHECK_UNWAITED, side.in, NULL))
            continue;
        struct check_subject subject = {.space = PTX_SPACE_REG};
        check_report(check, CHECK_UNWAITED, &subject, &side, NULL,
                     "bulk copy: block (%u,%u,%u) may end before the copy has read its shared "
                     "memory: %s",
                     simt->index[0], simt->index[1], simt->index[2],
                     tma_is_counted(side.in->ptx->op)
                         ? "nothing tells it that the other block's mbarrier has counted the copy "
                           "(cluster.sync() before the end, after that block's wait)"
                         : "nothing waits for that (cp.async.bulk.commit_group, then "
                           "cp.async.bulk.wait_group.read)");
    }
}

/* What this warp knows of all warps is seen by bulk copies from now on. */
static void fence_async(struct check *check, struct simt_warp *w)
{
    struct check_block *block = w->block->check;
    const uint32_t *row = check_known_by(block, w->index);
    for (uint32_t i = 0; i < block->warp_count; i++)
        learn(&block->fenced[i], i == w->index ? check->time : row[i]);
    check_close_segment(&block->warps[w->index]);
}

static void acquire_map(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    struct check_block *block = w->block->check;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        uint64_t at = tma_address(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, __builtin_ctz(rest)) +
                      (uint64_t)in->imm;
        block->maps[at / TENSORMAP_ALIGN % CHECK_MAPS] =
            (struct check_map_fence){.address = at, .time = check->time};
    }
    check_close_segment(&block->warps[w->index]);
}

bool check_bulk_order(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    struct check_warp *warp = check_warp_of(w);
    switch (in->ptx->op) {
    case PTX_OP_CP_BULK_COMMIT:
        memmove(warp->bulk_commits + 1, warp->bulk_commits,
                sizeof(warp->bulk_commits) - sizeof(warp->bulk_commits[0]));
        warp->bulk_commits[0] = check->time;
        return true;
    case PTX_OP_CP_BULK_WAIT:
        wait_group(w, in);
        return true;
    case PTX_OP_MBARRIER_ARRIVE_TX:
        check_arrival(check, w, in);
        return false;
    case PTX_OP_FENCE_PROXY:
        if (!ptx_has(in->ptx, PTX_MOD_ALIAS) && !ptx_has(in->ptx, PTX_MOD_ASYNC_GLOBAL))
            fence_async(check, w);
        return true;
    case PTX_OP_FENCE_PROXY_RESTRICT:
        fence_async(check, w);
        return true;
    case PTX_OP_FENCE_MAP_ACQUIRE:
        acquire_map(check, w, in);
        return true;
    default:
        return false;
    }
}

/* Bulk copies read shared memory through a proxy of their own, which sees what threads wrote only
 * after a fence. */
void check_bulk_fence(struct check *check, const struct watch_access *access, uint64_t address,
                      int lane, uint32_t segment, uint32_t info)
{
    const struct check_block *block = access->w->block->check;
    uint32_t at = segment - check->segment_base;
    uint32_t warp = check->segment_warps[at] - block->first_warp;
    if (access->space != PTX_SPACE_SHARED || check->segment_engines[at] ||
        warp >= block->warp_count || segment <= block->fenced[warp])
        return;
    struct check_side side = check_side_of(access->w, access->in, lane, "read");
    struct check_side other = check_side_of_segment(check, segment, info, "write");
    if (check_is_known(check, CHECK_RACE, access->in, other.in))
        return;
    struct check_subject subject = {.space = access->space, .address = address};
    check_report(check, CHECK_RACE, &subject, &side, &other,
                 "missing fence: %s reads shared memory at 0x%llx that a thread wrote, without "
                 "fence.proxy.async after the write: it may read what was there before",
                 ptx_is_wgmma(access->in->ptx->op) ? "a warpgroup product" : "the bulk copy",
                 (unsigned long long)address);
}
