/*
 * stall.c: tells a launch that is stuck from one that waits a long time, without watchers.
 * A warp that waits in a loop comes back to registers that it had before; one that counts, walks
 * over addresses or reads a clock does not. So when all that runs is waits, and no warp gets into a
 * new state, nothing will change any more. Waits at mbarriers, for registers and for products of a
 * warpgroup can only be ended by the block or cluster itself: run.c then gives up at once.
 *
 * Other waits read memory. When all that a launch does is poll, it is suspect: each step is looked
 * at (repeat.c), and what changes memory is news, too. If there are none in a row of looks, the
 * launch can only repeat itself. Global memory may still be written by the host and by other
 * launches, which get `patience` seconds; a block's own memory cannot.
 *
 * Many waits read the clock, to pause longer and longer or to give up at some time. So clocks are
 * held during the looks, and go on between them. At last they are put forward, in steps, so that
 * what waits only for a time comes to its end.
 */
#include "simt/stall.h"

#include "base/clock.h"
#include "simt/clock.h"
#include "simt/cluster.h"

#include <stdlib.h>

enum {
    EVERY = 16, /* turns between two looks, and one for each block that is parked */
    /* A worker's looks come in cycles: its clocks are held until the registers that depend on them
     * have settled, then no state may be new; after that its clocks go on. */
    SETTLE = 8,
    LOOKS = 24,
    CYCLE = 128,
    SKIPS = 17,            /* of the clocks at the end, four times as far each: to over an hour */
    STATES_MOST = 1 << 22, /* that are remembered: what has more is no loop that waits */
};

/* States ----------------------------------------------------------------------------------------
 */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint64_t hash_bytes(uint64_t hash, const uint8_t *data, size_t size)
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

/* The local memory of a path's lanes, as far as its frames go. */
static uint64_t hash_local(const struct simt_warp_state *warp, const struct simt_path *path,
                           uint64_t hash)
{
    uint32_t top = path->frame ? path->frame->local_top : 0;
    for (uint32_t rest = top ? path->mask : 0; rest; rest &= rest - 1) {
        size_t lane = (size_t)__builtin_ctz(rest);
        hash = hash_bytes(hash, warp->local + lane * warp->w.block->launch->local_stride, top);
    }
    return hash;
}

/* What decides what a warp does next, but for memory that others have, too. */
static uint64_t warp_hash(const struct simt_warp_state *warp)
{
    const struct simt_frame *last = NULL;
    uint64_t hash = mix(0, warp->w.block->linear * SIMT_LANES + warp->w.index);
    hash = mix(hash, warp->w.carry);
    for (int i = 0; i < SIMT_LANES; i++) {
        const struct simt_path *path = &warp->paths[i];
        if (path->state == SIMT_PATH_FREE)
            continue;
        hash = mix(hash, (uint64_t)path->state << 32 | path->mask);
        hash = hash_local(warp, path, mix(hash, (uintptr_t)path->ip));
        if (path->frame == last)
            continue;
        last = path->frame;
        for (const struct simt_frame *frame = last; frame; frame = frame->parent)
            hash = hash_bytes(mix(hash, (uintptr_t)frame->return_to), frame->regs,
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
                news |= is_new(&worker->seen, warp_hash(&blocks[i]->warps[k]));
    return news;
}

static void put_forward(struct simt_block *block, uint64_t ns)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct simt_warp_state *warp = &block->warps[i];
        warp->clock += simt_cycles_of_ns(block->launch->machine, ns);
        warp->held = 0;
    }
}

bool simt_stall_skip_time(struct simt_block *block)
{
    enum { BLOCK_SKIPS = 13 };
    if (!block->launch->code->reads_clock || block->skips == BLOCK_SKIPS)
        return false;
    put_forward(block, UINT64_C(1000) << 2 * block->skips++);
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

static void settle(struct simt_worker *worker, bool is_settled)
{
    if (worker->is_settled == is_settled)
        return;
    worker->is_settled = is_settled;
    atomic_fetch_add(&worker->launch->settled, is_settled ? 1u : -1u);
}

static void begin_again(struct simt_worker *worker)
{
    worker->news = worker->launch->news;
    worker->still_since = lk_seconds();
    worker->looks = worker->skips = 0;
    worker->holds_clock = worker->launch->code->reads_clock;
    settle(worker, false);
}

void simt_stall_unsuspect(struct simt_worker *worker)
{
    settle(worker, false);
    worker->holds_clock = false;
    worker->launch->suspect = false;
}

static bool any_news(struct simt_worker *worker, struct simt_block *block)
{
    bool news = simt_stall_has_news(worker, block);
    for (block = worker->parked_first; block; block = block->next)
        news |= simt_stall_has_news(worker, block);
    return news;
}

static void skip_time(struct simt_worker *worker, struct simt_block *first)
{
    uint64_t ns = UINT64_C(1000) << 2 * worker->skips++;
    struct simt_block *next = worker->parked_first;
    for (; first; first = next, next = first ? first->next : NULL) {
        uint32_t count;
        struct simt_block *block = first, *const *blocks = simt_cluster_blocks(&block, &count);
        for (uint32_t i = 0; i < count; i++)
            put_forward(blocks[i], ns);
    }
}

/* After a row of looks without news: nothing but time can change anything any more, or the host. */
static void be_still(struct simt_worker *worker, struct simt_block *block)
{
    struct simt_launch_state *launch = worker->launch;
    bool waits_for_host = launch->asks_outside &&
                          lk_seconds() - worker->still_since <= launch->machine->options.patience;
    if (waits_for_host)
        return;
    if (!launch->code->reads_clock || worker->skips == SKIPS) {
        settle(worker, true);
        return;
    }
    skip_time(worker, block);
    worker->looks = 0;
}

bool simt_stall_is_stuck(struct simt_worker *worker, struct simt_block *block)
{
    struct simt_launch_state *launch = worker->launch;
    if (!worker->is_vain || ++worker->turns < EVERY + worker->parked_count)
        return false;
    worker->turns = 0;
    if (launch->vain != launch->workers || !works_alone(launch)) {
        simt_stall_unsuspect(worker);
        begin_again(worker);
        return false;
    }
    if (!launch->suspect) {
        launch->asks_outside = false;
        launch->suspect = true;
        begin_again(worker);
    }
    bool settles = launch->code->reads_clock && worker->looks < SETTLE;
    if (any_news(worker, block) && worker->looks < SETTLE + LOOKS && !settles)
        launch->news++;
    if (worker->news != launch->news) {
        begin_again(worker);
        return false;
    }
    if (++worker->looks == SETTLE + LOOKS) {
        worker->holds_clock = false;
        be_still(worker, block);
    }
    if (worker->looks == CYCLE)
        worker->looks = 0;
    worker->holds_clock = launch->code->reads_clock && worker->looks < SETTLE + LOOKS;
    return worker->is_settled && launch->settled == launch->workers;
}
