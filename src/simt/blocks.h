/*
 * blocks.h: blocks and clusters of a worker, from where they begin to where they end (blocks.c).
 * A cluster is known by its first block.
 */
#ifndef LOCKSTEP_SIMT_BLOCKS_H
#define LOCKSTEP_SIMT_BLOCKS_H

#include "simt/core.h"

uint64_t simt_next_random(uint64_t *state);
struct simt_block *simt_block_start(struct simt_worker *worker, uint64_t linear, uint32_t rank);
/* All blocks of a cluster; the first stands for it in the worker's lists. */
struct simt_block *simt_cluster_start(struct simt_worker *worker, uint64_t number);
/* A block or cluster that has ended; one that a fault has stopped while it was parked. */
void simt_block_retire(struct simt_worker *worker, struct simt_block *block);
void simt_block_drop(struct simt_worker *worker, struct simt_block *block);
void simt_block_free(struct simt_block *block);
/* Time: what a block has waited for, others did meanwhile; where it has got to. */
void simt_blocks_catch_up(struct simt_worker *worker, struct simt_block *first);
void simt_blocks_note_clock(struct simt_worker *worker, struct simt_block *first, bool ends);

#endif
