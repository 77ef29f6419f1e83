/*
 * stall.h: launches and blocks that can only repeat themselves; see stall.c.
 */
#ifndef LOCKSTEP_SIMT_STALL_H
#define LOCKSTEP_SIMT_STALL_H

#include "simt/core.h"

/* Is a warp of the block, or of a block of its cluster, in a state that the worker has not seen it
 * in before? */
bool simt_stall_has_news(struct simt_worker *worker, struct simt_block *block);

/* Puts the clocks of a block forward that may wait for one: by a microsecond, then by four times as
 * much each time. False: no wait is that long. */
bool simt_stall_skip_time(struct simt_block *block);

/* After a turn in which the block only polled: has the launch done nothing else for so long that it
 * is stuck? */
bool simt_stall_is_stuck(struct simt_worker *worker, struct simt_block *block);

/* The launch does something else than poll, or another does. */
void simt_stall_unsuspect(struct simt_worker *worker);

/* repeat.c: runs an instruction of a launch that is suspect. If it changes memory, or may do
 * anything else that a repetition would not, it is news. */
const struct simt_inst *simt_stall_step(struct simt_warp *w, const struct simt_inst *in);

void simt_stall_free(struct simt_worker *worker);

#endif
