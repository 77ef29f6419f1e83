/*
 * stall.c: tells a launch that is stuck from one that waits a long time, without watchers.
 * A warp that waits in a loop comes back to registers that it had before; one that counts, walks
 * over addresses or reads a clock does not. So when all that runs is waits, and no warp gets into a
 * new state, nothing will change any more. Waits at mbarriers, for registers and for products of a
 * warpgroup can only be ended by the block or cluster itself: run.c then gives up at once. Memory
 * can also be written by the host and by other launches, which get `patience` seconds.
 */
#include "simt/stall.h"

#include "base/clock.h"
#include "simt/clock.h"
#include "simt/cluster.h"

#include <stdlib.h>

enum {
    EVERY = 16,            /* turns between two looks */
    LOOKS = 64,            /* without news before a launch may be called stuck */
    STATES_MOST = 1 << 22, /* that are remembered: what has more is no loop that waits */
};

/* States ----------------------------------------------------------------------------------------
 */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

uint64_t simt_hash_bytes(uint64_t hash, const uint8_t *data, size_t size)
{
    uint64_t part[4] = {hash, hash + 1, hash + 2, hash + 3}, word[4];
    for (; size >= sizeof word; data += sizeof word, size -= sizeof word) {
        memcpy(word, data, sizeof word);
        for (int i = 0; i < 4; i++)
            part[i] = mix(part[i], word[i]);
    }
    memset(word, 0, sizeof word);
    memcpy(word, data, size);
    for (int i = 0; i < 4; i++)
        hash = mix(hash, mix(part[i], word[i]));
    return hash;
}

uint64_t simt_warp_hash(const struct simt_warp_state *warp, const struct simt_path *running,
                        uint64_t hash)
{
    const struct simt_frame *last = NULL;
    hash = mix(hash, warp->w.block->linear * SIMT_LANES + warp->w.index);
    for (int i = 0; i < SIMT_LANES; i++) {
        const struct simt_path *path = &warp->paths[i];
        if (path->state == SIMT_PATH_FREE)
            continue;
        hash = mix(hash, (uint64_t)path->state << 32 | path->mask);
        if (path != running)
            hash = mix(hash, (uintptr_t)path->ip);
        if (path->frame == last)
            continue;
        last = path->frame;
        for (const struct simt_frame *frame = last; frame; frame = frame->parent)
            hash = simt_hash_bytes(mix(hash, (uintptr_t)frame->return_to), frame->regs,
                                   frame->function->frame_bytes);
    }
    return hash;
}

static void grow(struct simt_seen *seen)
{
    struct simt_seen old = *seen;
    seen->capacity = old.capacity ? 2 * old.capacity : 1024;
    seen->states = lk_alloc_zeroed(seen->capacity * sizeof(*seen->states));
    for (uint32_t i = 0; i < old.capacity; i++) {
        size_t at = old.states[i] & (seen->capacity - 1);
        if (!old.states[i])
            continue;
        while (seen->states[at])
            at = (at + 1) & (seen->capacity - 1);
        seen->states[at] = old.states[i];
    }
    free(old.states);
}

/* Adds it to those seen; false if it is one of them. */
static bool is_new(struct simt_seen *seen, uint64_t state)
{
    if (seen->count >= STATES_MOST) {
        memset(seen->states, 0, seen->capacity * sizeof(*seen->states));
        seen->count = 0;
    }
    if (2 * seen->count >= seen->capacity)
        grow(seen);
    state += !state; /* 0: nothing is there */
    size_t at = state & (seen->capacity - 1);
    while (seen->states[at] && seen->states[at] != state)
        at = (at + 1) & (seen->capacity - 1);
    if (seen->states[at])
        return false;
    seen->states[at] = state;
    seen->count++;
    return true;
}

bool simt_stall_has_news(struct simt_worker *worker, struct simt_block *block)
{
    uint32_t count;
    bool news = false;
    struct simt_block *const *blocks = simt_cluster_blocks(&block, &count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < blocks[i]->warp_count && !blocks[i]->has_ended; k++)
            if (blocks[i]->warps[k].w.live)
                news |= is_new(&worker->seen, simt_warp_hash(&blocks[i]->warps[k], NULL, 0));
    return news;
}

bool simt_stall_skip_time(struct simt_block *block)
{
    enum { SKIPS = 13 };
    if (!block->launch->code->reads_clock || block->skips == SKIPS)
        return false;
    uint64_t ns = UINT64_C(1000) << 2 * block->skips++;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct simt_warp_state *warp = &block->warps[i];
        warp->clock += simt_cycles_of_ns(block->launch->machine, ns);
        warp->held = 0;
    }
    return true;
}

void simt_stall_free(struct simt_worker *worker)
{
    free(worker->seen.states);
}

/* Launches --------------------------------------------------------------------------------------
 */

static bool works_alone(struct simt_launch_state *launch)
{
    struct simt_machine *machine = launch->machine;
    pthread_mutex_lock(&machine->launch_lock);
    bool alone = machine->working <= !launch->yielded;
    pthread_mutex_unlock(&machine->launch_lock);
    return alone;
}

bool simt_stall_is_stuck(struct simt_worker *worker, struct simt_block *block)
{
    struct simt_launch_state *launch = worker->launch;
    if (!worker->is_vain || worker->vain % EVERY)
        return false;
    if (simt_stall_has_news(worker, block))
        launch->news++;
    if (worker->news != launch->news || launch->vain != launch->workers || !works_alone(launch)) {
        worker->news = launch->news;
        worker->still_since = lk_seconds();
        worker->looks = 0;
        return false;
    }
    double still = lk_seconds() - worker->still_since;
    return ++worker->looks > LOOKS + worker->parked_count &&
           still > launch->machine->options.patience;
}
