/*
 * clock.h: the time that kernels see: %clock, %globaltimer, nanosleep.
 * Every warp has a clock of its own, which counts its instructions at the pace that its SM gives
 * it, what its loads wait for while they are counted, and what it sleeps; a barrier brings the
 * clocks of its warps together. A block begins when the one before it on its SM ended. So time
 * depends neither on the host nor on how many workers there are. A loop that does nothing but wait
 * for a clock is fast-forwarded: the longer it has waited, the further a turn takes it (waits.c
 * finds such loops).
 * How often a warp looks at an mbarrier, or asks whether its products are done, depends on whose
 * turn it is here, so a look in vain takes no time, nor does the pause after it (cuda::barrier has
 * some, which grow): the warp goes on when its block has got that far.
 * If all warps of a block wait at mbarriers, their pauses' clocks stand still every now and then: a
 * deadlock shows when no warp gets into a new state, and a clock would make each state new. Before
 * it is reported, they are put forward, further each time, in case one of them waits no longer than
 * a given time (run.c).
 */
#ifndef LOCKSTEP_SIMT_CLOCK_H
#define LOCKSTEP_SIMT_CLOCK_H

#include "simt/core.h"

enum {
    SIMT_CLOCK_BITS = 4, /* sixteenths */
    /* A turn of a waiting loop takes it this part of the time further that it has waited for: so
     * much too long a wait becomes at most. Where thousands of warps wait, the part is larger, and
     * where few do, smaller. */
    SIMT_WAIT_PART_FEW = 256,
    SIMT_WAIT_PART_MANY = 32
};

/* Of a path that runs: with what its slice has taken so far. */
static inline uint64_t simt_clock(const struct simt_warp_state *warp)
{
    int64_t used = (int64_t)warp->slice_fuel - warp->fuel;
    return warp->clock + (uint64_t)used * warp->w.block->launch->pace;
}

static inline uint64_t simt_cycles_of_ns(const struct simt_machine *machine, uint64_t ns)
{
    return (uint64_t)((double)ns * machine->gpu->boost_mhz * 1e-3 * (1 << SIMT_CLOCK_BITS));
}

/* Does the clock stand still that pauses of this block's waits read? */
static inline bool simt_holds_clock(const struct simt_block *block)
{
    enum { ROUNDS = 2048, MOVES = 512 };
    return block->still % ROUNDS >= MOVES;
}

/* Gives turns to others without taking time. */
static inline void simt_charge_turns(struct simt_warp *w, int fuel)
{
    simt_charge(w, fuel);
    simt_state(w)->slice_fuel -= fuel;
}

/* Between two looks at an mbarrier? Then what it was charged for, so many times, is part of that
 * wait. */
static inline bool simt_pauses(struct simt_warp *w, uint32_t charges)
{
    struct simt_warp_state *warp = simt_state(w);
    bool pauses = warp->waiting.lanes & w->mask;
    warp->vain_waits += pauses ? charges : 0;
    return pauses;
}

/* Other warps of the block have their turn before it goes on; it waits for none of them. */
static inline void simt_end_turn(struct simt_warp_state *warp)
{
    warp->slice_fuel -= warp->fuel;
    warp->fuel = 0;
}

/* Others of its block, warps from first on, had to do something before this one goes on. */
static inline void simt_clock_follow(struct simt_warp *w, uint32_t first, uint32_t count)
{
    struct simt_warp_state *warp = simt_state(w);
    uint64_t latest = simt_clock(warp), own = latest;
    for (uint32_t i = first; i < first + count; i++) {
        const struct simt_warp_state *other = &w->block->warps[i];
        latest = other != warp && other->clock > latest ? other->clock : latest;
    }
    warp->clock += latest - own;
}

/* The launch takes at least as long as this warp's clock says, from here on. */
static inline void simt_keep_time(struct simt_warp *w, const struct simt_inst *in)
{
    if (!(in->flags & SIMT_FLAG_BACKOFF))
        atomic_store_explicit(&w->block->launch->keeps_time, true, memory_order_relaxed);
}

/* waits.c: the loops above, and SIMT_FLAG_BACKOFF */
void simt_find_waits(struct simt_code *code);

#endif
