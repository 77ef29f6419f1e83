/*
 * cluster.c: what the blocks of a cluster share: each other's shared memory, and the cluster's
 * barrier. A thread arrives there and waits later; threads that have exited count as arrived.
 */
#include "simt/cluster.h"
#include "simt/clock.h"
#include "simt/watch.h"

/* Shared memory of the cluster ------------------------------------------------------------------
 */

void simt_shared_split(uint64_t address, uint32_t *rank, uint32_t *offset)
{
    if (address >= SIMT_SHARED_WINDOW)
        address -= SIMT_SHARED_WINDOW;
    *offset = (uint32_t)(address & SIMT_OFFSET_MASK);
    uint64_t high = address >> SIMT_RANK_SHIFT;
    *rank = high < UINT32_MAX ? (uint32_t)high : UINT32_MAX;
}

uint8_t *simt_cluster_shared(struct simt_warp *w, const struct simt_inst *in, uint32_t rank,
                             uint32_t offset, uint32_t size, int lane, bool is_write)
{
    struct simt_block *own = w->block;
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&own, &count);
    const char *does = is_write ? "write" : "read";
    if (rank >= count) {
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "%s of %u bytes in shared memory of block %u of the cluster, which has %u "
                   "block%s",
                   does, size, rank, count, count == 1 ? "" : "s");
        return NULL;
    }
    struct simt_block *block = blocks[rank];
    if (offset & (size - 1)) {
        simt_raise(w, in, SIMT_FAULT_MISALIGNED, lane,
                   "%s of %u bytes at 0x%x in shared memory of block %u of the cluster: the "
                   "address is not a multiple of the access size",
                   does, size, offset, rank);
        return NULL;
    }
    bool inside = offset <= block->shared_bytes && size <= block->shared_bytes - offset;
    if (!inside && !simt_reserved(block, offset, size) &&
        (is_write || !simt_reads_on(block, offset, size))) {
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "%s of %u bytes at 0x%x: outside of the %u bytes of shared memory of block %u "
                   "of the cluster",
                   does, size, offset, block->shared_bytes, rank);
        return NULL;
    }
    if (block->has_ended) {
        simt_raise(w, in, SIMT_FAULT_CLUSTER_EXIT, lane,
                   "%s of %u bytes in shared memory of block (%u,%u,%u) of the cluster, which has "
                   "exited; blocks whose shared memory others use must wait for them "
                   "(cluster.sync() at the end)",
                   does, size, block->index[0], block->index[1], block->index[2]);
        return NULL;
    }
    return block->shared + offset;
}

bool simt_cluster_complete(struct simt_warp *w, const struct simt_inst *in, uint32_t rank,
                           uint32_t offset, uint32_t bytes, int lane)
{
    struct simt_mbarrier *barrier =
        (struct simt_mbarrier *)(void *)simt_cluster_shared(w, in, rank, offset, 8, lane, true);
    if (!barrier)
        return false;
    if (!simt_mbarrier_expect(barrier, -(int64_t)bytes)) {
        simt_raise(w, in, SIMT_FAULT_BARRIER, lane,
                   "the tx-count of the mbarrier at 0x%x leaves its range: %u bytes come, %d are "
                   "expected",
                   offset, bytes, simt_mbarrier_bytes(barrier));
        return false;
    }
    simt_mbarrier_settle(barrier);
    return true;
}

/* The barrier -----------------------------------------------------------------------------------
 */

static bool is_complete(struct simt_block *const *blocks, uint32_t count)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < blocks[i]->warp_count; k++) {
            const struct simt_warp_state *warp = &blocks[i]->warps[k];
            if (warp->w.live & ~warp->cluster_arrived)
                return false;
            any |= warp->cluster_arrived != 0;
        }
    return any;
}

/* Who came early has waited for the last. */
static void meet(struct simt_block *const *blocks, uint32_t count)
{
    uint64_t latest = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < blocks[i]->warp_count; k++) {
            uint64_t now = simt_clock(&blocks[i]->warps[k]);
            latest = now > latest ? now : latest;
        }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < blocks[i]->warp_count; k++) {
            struct simt_warp_state *warp = &blocks[i]->warps[k];
            if (warp->w.live && simt_clock(warp) < latest)
                warp->clock += latest - simt_clock(warp);
        }
}

static void let_go(struct simt_warp_state *warp)
{
    warp->cluster_arrived = 0;
    for (uint32_t k = 0, left = warp->path_count; left && k < SIMT_LANES; k++) {
        struct simt_path *path = &warp->paths[k];
        left -= path->state != SIMT_PATH_FREE;
        if (path->state != SIMT_PATH_BARRIER || path->barrier != SIMT_CLUSTER_BARRIER)
            continue;
        path->state = SIMT_PATH_READY;
        simt_paths_merge(warp, path);
    }
}

static bool release_if_complete(struct simt_block *block)
{
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&block, &count);
    if (!is_complete(blocks, count))
        return false;
    meet(blocks, count);
    if (block->launch->watch)
        simt_watch_cluster_barrier(block);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < blocks[i]->warp_count; k++)
            let_go(&blocks[i]->warps[k]);
    return true;
}

void simt_cluster_check(struct simt_block *block)
{
    release_if_complete(block);
}

const struct simt_inst *simt_cluster_arrive(struct simt_warp *w, const struct simt_inst *in)
{
    struct simt_warp_state *warp = simt_state(w);
    uint32_t again = warp->cluster_waits & w->mask;
    if (again)
        return simt_raise(w, in, SIMT_FAULT_BARRIER, __builtin_ctz(again),
                          "barrier.cluster.arrive twice without barrier.cluster.wait in between");
    warp->cluster_arrived |= w->mask;
    warp->cluster_waits |= w->mask;
    release_if_complete(w->block);
    return in + 1;
}

const struct simt_inst *simt_cluster_wait(struct simt_warp *w, const struct simt_inst *in)
{
    struct simt_warp_state *warp = simt_state(w);
    struct simt_path *path = w->path;
    uint32_t stray = w->mask & ~warp->cluster_waits;
    if (stray)
        return simt_raise(w, in, SIMT_FAULT_BARRIER, __builtin_ctz(stray),
                          "barrier.cluster.wait without barrier.cluster.arrive before it");
    warp->cluster_waits &= ~w->mask;
    if (!(warp->cluster_arrived & w->mask)) /* its phase has ended */
        return in + 1;
    simt_part_from_rest(warp, in);
    path->state = SIMT_PATH_BARRIER;
    path->barrier = SIMT_CLUSTER_BARRIER;
    path->ip = in + 1;
    path->sync_lanes = w->mask;
    return NULL;
}
