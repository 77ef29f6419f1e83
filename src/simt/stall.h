/*
 * stall.h: launches and blocks that can only repeat themselves; see stall.c.
 */
#ifndef LOCKSTEP_SIMT_STALL_H
#define LOCKSTEP_SIMT_STALL_H

#include "simt/core.h"

/* What decides what a warp does next, but for memory: its registers and where its paths are.
 * running: the path that is in the middle of its turn, whose place says nothing; or NULL. */
uint64_t simt_warp_hash(const struct simt_warp_state *warp, const struct simt_path *running,
                        uint64_t hash);
uint64_t simt_hash_bytes(uint64_t hash, const uint8_t *data, size_t size);

/* Is a warp of the block, or of a block of its cluster, in a state that the worker has not seen it
 * in before? */
bool simt_stall_has_news(struct simt_worker *worker, struct simt_block *block);

/* Puts the clocks of a block forward that may wait for one: by a microsecond, then by four times as
 * much each time. False: no wait is that long. */
bool simt_stall_skip_time(struct simt_block *block);

/* After a turn in which the block only polled: has the launch done nothing else for so long that it
 * is stuck? */
bool simt_stall_is_stuck(struct simt_worker *worker, struct simt_block *block);

void simt_stall_free(struct simt_worker *worker);

#endif
