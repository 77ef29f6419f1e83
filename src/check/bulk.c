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

/* The mbarrier that counts the copy; false for copies of bulk groups. */
static bool barrier_of(const struct simt_warp *w, const struct simt_inst *in, int lane,
                       uint64_t *at)
{
    switch (in->ptx->op) {
    case PTX_OP_CP_BULK_G2S:
    case PTX_OP_CP_BULK_S2S:
    case PTX_OP_BULK_RED_S:
        *at = tma_shared_address(w, in->e, in->counts[1] == 32, lane);
        return true;
    case PTX_OP_TMA_LOAD:
    case PTX_OP_TMA_LOAD_IM2COL:
        *at = tma_shared_address(w, in->c, in->counts[1] == 32, lane);
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

uint32_t check_bulk_segment(struct check *check, const struct watch_access *access)
{
    struct check_block *block = access->w->block->check;
    uint64_t barrier;
    bool is_counted = barrier_of(access->w, access->in, __builtin_ctz(access->mask), &barrier);
    bool stores = !is_counted && access->space != PTX_SPACE_SHARED;
    uint32_t engine =
        1 + (is_counted ? load_engine(block, barrier) : store_engine(access->w->index, stores));
    uint32_t *segment = &check->engine_segments[stores];
    if (*segment < check->segment_base ||
        check->segment_engines[*segment - check->segment_base] != engine)
        *segment = check_order_new_segment(check, block, access->w->index, engine);
    return *segment;
}

/* An mbarrier as exec_async.c lays it out. bytes: that it still waits for; below 0, more have come
 * than are expected so far. */
struct barrier {
    uint32_t pending, phase;
    int32_t bytes;
    bool is_ready;
};

static struct barrier barrier_from(uint64_t bits)
{
    return (struct barrier){.pending = bits & 0xfffff,
                            .phase = bits >> 40 & 1,
                            .is_ready = bits >> 41 & 1,
                            .bytes = (int32_t)((int64_t)bits >> 42)};
}

static struct barrier read_barrier(const struct simt_warp *w, uint64_t at)
{
    uint64_t bits = 0;
    if (at % 8 == 0 && at + 8 <= w->block->shared_bytes)
        memcpy(&bits, w->block->shared + at, 8);
    return barrier_from(bits);
}

static void report_bytes(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                         int lane, uint64_t at, int64_t extra)
{
    struct check_side side = check_side_of(w, in, lane, "arrive");
    if (check_is_known(check, CHECK_BARRIER, in, NULL))
        return;
    struct check_subject subject = {.space = PTX_SPACE_SHARED, .address = at};
    check_report(check, CHECK_BARRIER, &subject, &side, NULL,
                 "wrong expect_tx: the copies of this phase bring %lld bytes more than the "
                 "mbarrier at 0x%llx expects: the phase ends before all of them have come",
                 (long long)extra, (unsigned long long)at);
}

/* All have arrived, and the copy brings more bytes than are missing. */
static void check_bytes(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                        int lane, uint64_t barrier)
{
    struct tma_copy copy;
    uint32_t size;
    if (ptx_op_infos[in->ptx->op].group == PTX_GROUP_ASYNC || in->ptx->op == PTX_OP_BULK_RED_S)
        size = SIMT_SLOT(const uint32_t, in->c)[lane];
    else if (tma_begin(w, in, lane, &copy))
        size = copy.bytes;
    else
        return;
    struct barrier state = read_barrier(w, barrier);
    if (state.is_ready && !state.pending && (int64_t)size > state.bytes)
        report_bytes(check, w, in, lane, barrier, (int64_t)size - state.bytes);
}

/* The last arrival, after copies that bring more than it expects. */
static void check_arrival(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t at = tma_shared_address(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane) +
                      (uint64_t)in->imm;
        struct barrier state = read_barrier(w, at);
        int64_t bytes = state.bytes + (int64_t)SIMT_SLOT(const uint32_t, in->b)[lane];
        if (state.is_ready && state.pending == 1 && bytes < 0)
            report_bytes(check, w, in, lane, at, -bytes);
    }
}

void check_bulk_issued(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                       int lane)
{
    uint64_t barrier;
    struct check_block *block = w->block->check;
    bool is_counted = check_bulk_is(in->ptx) && barrier_of(w, in, lane, &barrier);
    if (is_counted)
        check_bytes(check, w, in, lane, barrier);
    if (is_counted && check->engine_segments[0]) {
        uint32_t parity = read_barrier(w, barrier).phase;
        block->engine_last[load_engine(block, barrier)][parity] = check->engine_segments[0];
        check_order_carry(check, w, barrier);
    }
    check->engine_segments[0] = check->engine_segments[1] = 0;
    check_close_segment(&block->warps[w->index]);
}

/* An mbarrier may have lost its engine to another: then all copies are taken to be known. */
void check_bulk_waited(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                       int lane, uint64_t at)
{
    struct check_block *block = w->block->check;
    uint32_t *row = check_known_by(block, w->index) + block->warp_count;
    bool by_parity = in->ptx->op == PTX_OP_MBARRIER_TEST_WAIT_PARITY ||
                     in->ptx->op == PTX_OP_MBARRIER_TRY_WAIT_PARITY;
    uint32_t parity = by_parity ? SIMT_SLOT(const uint32_t, in->b)[lane] & 1
                                : barrier_from(SIMT_SLOT(const uint64_t, in->b)[lane]).phase;
    for (uint32_t i = 0; i < CHECK_LOAD_ENGINES; i++)
        if (block->engine_keys[i] == at + 1) {
            learn(&row[i], block->engine_last[i][parity]);
            return;
        }
    if (block->engine_next <= CHECK_LOAD_ENGINES)
        return;
    for (uint32_t i = 0; i < CHECK_LOAD_ENGINES; i++)
        learn(&row[i], check->time);
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
    check_bulk_issued(check, w, in, lane);
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
    case PTX_OP_FENCE_ASYNC_HALF:
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
                 "missing fence: the bulk copy reads shared memory at 0x%llx that a thread wrote, "
                 "without fence.proxy.async after the write: it may read what was there before",
                 (unsigned long long)address);
}
