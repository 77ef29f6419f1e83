/*
 * units.h: when the units that work by themselves are done: tensor cores with wgmma, bulk copies
 * and tensor copies, cp.async, mbarriers. How far they overlap with the warps, and with each other,
 * depends on who waits for whom; sums of counters cannot tell. So launches that use them are
 * followed in time: every warp has a time of its own, every unit a calendar, and every wait makes a
 * warp as late as what it waits for. Launches without such units are not followed.
 */
#ifndef LOCKSTEP_WATCH_UNITS_H
#define LOCKSTEP_WATCH_UNITS_H

#include "simt/watch.h"

struct units; /* of a launch that is followed */

/* NULL: the launch uses no such unit, and is not to be followed always. resident: blocks on an SM.
 */
struct units *units_open(const struct simt_launch_state *launch, unsigned resident, bool always);
void units_close(struct units *units);

/* What an access took: sectors of the L2, cycles of the SM's load/store units (for shared memory:
 * passes), and its latency. */
struct units_access {
    uint64_t l2_sectors, passes;
    uint64_t partial, partial_lines; /* sectors of which a store writes a part, and their lines */
    uint32_t latency;
};
/* Returns the cycles by which it is late because units are busy. */
uint32_t units_access(struct units *units, const struct watch_access *access,
                      const struct units_access *took);
/* A lane's bulk copy, whose accesses have been shown. */
void units_bulk(struct units *units, struct simt_warp *w, const struct simt_inst *in, int lane);
void units_block(struct units *units, struct simt_block *block, bool begins);
void units_barrier(struct units *units, struct simt_block *block, uint32_t id);
void units_cluster_barrier(struct units *units, struct simt_block *block);
/* The watcher's hooks order and product. */
void units_order(struct units *units, struct simt_warp *w, const struct simt_inst *in);
void units_product(struct units *units, struct simt_warp *w, const struct simt_inst *in);

/* The warp's time in cycles, which is later by delay from now on. */
double units_now(struct units *units, const struct simt_warp *w, double delay);

/* Cycles from the beginning of the first block to the end of the last. */
double units_cycles(const struct units *units);

#endif
