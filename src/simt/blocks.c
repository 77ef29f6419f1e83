/*
 * blocks.c: blocks and clusters, from where they begin to where they end. Their memory is kept for
 * the next one of the same worker.
 */
#include "simt/blocks.h"
#include "simt/cluster.h"
#include "simt/watch.h"

#include <stdlib.h>

static struct simt_block *block_new(struct simt_worker *worker)
{
    const struct simt_launch_state *launch = worker->launch;
    struct simt_block *block = worker->free_blocks;
    if (block) {
        worker->free_blocks = block->next;
        return block;
    }
    block = lk_alloc_zeroed(sizeof(*block));
    block->warp_count = launch->warps_per_block;
    block->warps = lk_alloc_zeroed(block->warp_count * sizeof(*block->warps));
    block->shared_bytes = launch->shared_bytes;
    block->reserved_at = launch->reserved_at;
    block->shared_end = launch->shared_end;
    block->shared = aligned_alloc(1024, (launch->shared_end + 2047) & ~1023u);
    if (!block->shared)
        abort();
    for (uint32_t i = 0; launch->local_stride && i < block->warp_count; i++)
        block->warps[i].local = lk_alloc_zeroed((size_t)SIMT_LANES * launch->local_stride);
    return block; /* what of it a block may see is filled when one starts */
}

/* A fault may have stopped the block inside calls: everything that its warps ever had. */
void simt_block_free(struct simt_block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct simt_warp_state *warp = &block->warps[i];
        for (struct simt_frame *frame = warp->all_frames, *next; frame; frame = next) {
            next = frame->older;
            free(frame->regs);
            free(frame);
        }
        for (struct simt_join *join = warp->all_joins, *next; join; join = next) {
            next = join->older;
            free(join);
        }
        free(warp->local);
        free(warp->late.copies);
    }
    free(block->warps);
    free(block->shared);
    free(block);
}

uint64_t simt_next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

struct simt_block *simt_block_start(struct simt_worker *worker, uint64_t linear, uint32_t rank)
{
    struct simt_launch_state *launch = worker->launch;
    const uint32_t *grid = launch->launch->grid;
    struct simt_block *block = block_new(worker);
    block->window = rank << SIMT_RANK_SHIFT;
    block->cluster = NULL;
    block->has_ended = false;
    block->vain = block->still = block->skips = 0;
    block->turn = (struct simt_turn){0};
    block->launch = launch;
    block->worker = worker;
    block->linear = linear;
    block->index[0] = (uint32_t)(linear % grid[0]);
    block->index[1] = (uint32_t)(linear / grid[0] % grid[1]);
    block->index[2] = (uint32_t)(linear / grid[0] / grid[1]);
    block->random = launch->random + linear;
    memset(block->barriers, 0, sizeof(block->barriers));
    /* So that runs repeat whatever ran before. */
    memset(block->shared, launch->machine->options.poison, (block->shared_end + 15) & ~15u);
    block->slot = (uint32_t)(worker->started++ % worker->slot_count);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct simt_warp_state *warp = &block->warps[i];
        simt_warp_start(warp, block, i);
        warp->clock = worker->slots[block->slot];
        warp->wait_loop = 0;
        warp->fuel = warp->slice_fuel = 0;
        warp->cluster_arrived = warp->cluster_waits = 0;
    }
    if (launch->watch)
        simt_watch_block(block, true);
    return block;
}

/* All blocks of a cluster; the first stands for it in the worker's lists. */
struct simt_block *simt_cluster_start(struct simt_worker *worker, uint64_t number)
{
    struct simt_launch_state *launch = worker->launch;
    const uint32_t *grid = launch->launch->grid, *shape = launch->cluster;
    uint64_t wide = grid[0] / shape[0], high = grid[1] / shape[1];
    uint64_t x = number % wide * shape[0], y = number / wide % high * shape[1],
             z = number / wide / high * shape[2];
    struct simt_cluster *cluster = lk_alloc_zeroed(sizeof(*cluster));
    cluster->size = launch->cluster_size;
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        uint64_t bx = x + rank % shape[0], by = y + rank / shape[0] % shape[1],
                 bz = z + rank / shape[0] / shape[1];
        struct simt_block *block =
            simt_block_start(worker, bx + grid[0] * (by + grid[1] * bz), rank);
        cluster->blocks[rank] = block;
        block->cluster = cluster;
    }
    return cluster->blocks[0];
}

/* What the block's warps have polled for, other blocks did meanwhile; what only their own can do
 * takes no time of others. */
void simt_blocks_catch_up(struct simt_worker *worker, struct simt_block *first)
{
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&first, &count);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < blocks[k]->warp_count; i++) {
            struct simt_warp_state *warp = &blocks[k]->warps[i];
            bool polled = warp->sync_ops > warp->vain_waits && !warp->waits_for_clock;
            if (warp->w.live && polled && warp->clock < worker->latest)
                warp->clock = worker->latest;
        }
}

void simt_blocks_note_clock(struct simt_worker *worker, struct simt_block *first, bool ends)
{
    _Atomic uint64_t *ended = &worker->launch->ended;
    uint64_t latest = 0;
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&first, &count);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < blocks[k]->warp_count; i++)
            latest = blocks[k]->warps[i].clock > latest ? blocks[k]->warps[i].clock : latest;
    worker->latest = latest;
    if (!ends)
        return;
    for (uint32_t k = 0; k < count; k++)
        worker->slots[blocks[k]->slot] = latest;
    for (uint64_t now = *ended; now < latest && !atomic_compare_exchange_weak(ended, &now, latest);)
        continue;
}

/* A block that has ended, or a whole cluster. */
void simt_block_retire(struct simt_worker *worker, struct simt_block *block)
{
    struct simt_cluster *cluster = block->cluster;
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&block, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (worker->launch->watch)
            simt_watch_block(blocks[i], false);
        blocks[i]->next = worker->free_blocks;
        worker->free_blocks = blocks[i];
        blocks[i]->cluster = NULL;
    }
    free(cluster);
}

/* After a fault: nobody is told that it ends. */
void simt_block_drop(struct simt_worker *worker, struct simt_block *block)
{
    struct simt_cluster *cluster = block->cluster;
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&block, &count);
    for (uint32_t i = 0; i < count; i++) {
        blocks[i]->next = worker->free_blocks;
        worker->free_blocks = blocks[i];
    }
    free(cluster);
}
