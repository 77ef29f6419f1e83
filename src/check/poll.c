/*
 * poll.c: tells a launch that is stuck from one that only waits a long time.
 *
 * A poll is an ordered load, an atomic whose result is read, or a wait for an mbarrier. A poll
 * fails when the warp reaches it with the same registers as last time, finds the same words, and
 * nothing has been stored in between: from there on, the warp can only repeat itself. A launch in
 * which every warp that gets a turn does that, many times over, is stuck. A loop that counts, walks
 * over addresses or waits for the clock changes a register.
 *
 * Polls are counted per warp, and all other warps have their turns between two of them, so the
 * verdict depends neither on the host's speed nor on how many warps poll. Only the host itself,
 * which may have to set what the kernel waits for, needs real time: the machine sleeps now and
 * then.
 */
#include "check/check.h"

#include "simt/children.h"
#include "simt/stall.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    EVERY = 16, /* polls of a warp between two looks at its registers, which cost a little */
    VAIN = 128, /* failed looks before the host gets time; this many turns without a poll are work
                   (run.c) */
    NAP_US = 200000,
    NAPS = 30, /* sleeps, with another look after each, before it is reported */
    STATES = 1 << 17
};

/* States that were seen -------------------------------------------------------------------------*/

/* The words that it is about to read: others may have changed them with atomics. */
static uint64_t mix_words(uint64_t hash, const struct watch_access *access)
{
    struct simt_block *block = access->block;
    struct simt_memory *memory = &block->launch->machine->memory;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint64_t address = access->addresses[__builtin_ctz(rest)];
        const uint8_t *at;
        if (access->space == PTX_SPACE_SHARED) {
            bool inside =
                address < block->shared_end && block->shared_end - address >= access->bytes;
            at = inside ? block->shared + address : NULL;
        } else {
            at = simt_memory_host(memory, address, access->bytes);
            if (!at)
                at = simt_memory_listed(memory, address, access->bytes, false);
        }
        if (at)
            hash = simt_hash_bytes(hash, at, access->bytes);
    }
    return hash;
}

/* Everything that decides what the warp does next, but for the rest of memory: that is what
 * `writes` is for. */
static uint64_t state_of(const struct check *check, const struct simt_warp *w,
                         const struct simt_inst *in)
{
    const struct simt_warp_state *warp = (const struct simt_warp_state *)(const void *)w;
    const uint64_t here[4] = {check->writes, (uintptr_t)in, w->mask, w->carry};
    return simt_warp_hash(warp, w->path, simt_hash_bytes(0, (const void *)here, sizeof here));
}

/* Adds it to those seen; false if it is one of them. */
static bool is_new(struct check *check, uint64_t state)
{
    if (!check->states)
        check->states = lk_alloc_zeroed(STATES * sizeof(*check->states));
    if (check->state_count >= STATES / 2) {
        memset(check->states, 0, STATES * sizeof(*check->states));
        check->state_count = 0;
    }
    state += !state; /* 0: nothing is there */
    size_t at = state & (STATES - 1);
    while (check->states[at] && check->states[at] != state)
        at = (at + 1) & (STATES - 1);
    if (check->states[at])
        return false;
    check->states[at] = state;
    check->state_count++;
    return true;
}

static bool waits_for_children(const struct check *check)
{
    struct simt_children *children = check->launch->launch->children;
    return children && simt_children_any_ready(children);
}

/* Polls -----------------------------------------------------------------------------------------*/

void check_poll(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                const struct watch_access *access)
{
    struct check_warp *warp = check_warp_of(w);
    if (++warp->polls % EVERY)
        return;
    if (check->worked != check->launch->worked) {
        check->worked = check->launch->worked;
        check->news++;
    }
    uint64_t state = state_of(check, w, in);
    if (is_new(check, access ? mix_words(state, access) : state)) {
        check->news++;
        return;
    }
    simt_state(w)->busy = 0;
    if (check->naps_news != check->news) {
        check->naps_news = check->news;
        check->naps = 0;
    }
    if (warp->news != check->news) {
        warp->news = check->news;
        warp->vain = 0;
    }
    if (++warp->vain < VAIN + check->naps || !access) /* the machine itself sees to mbarriers */
        return;
    if (check->naps++ < NAPS)
        usleep(NAP_US);
    else
        simt_raise(w, in, SIMT_FAULT_LIVELOCK, __builtin_ctz(w->mask),
                   "the launch does nothing but poll, and what it reads stays as it is: who sets "
                   "what this thread waits for?%s",
                   waits_for_children(check) ? " Under check, kernels that it has launched begin "
                                               "when it has ended; 'lockstep run' runs them now."
                                             : "");
}

void check_poll_end(struct check *check)
{
    free(check->states);
    check->states = NULL;
    check->state_count = 0;
}
