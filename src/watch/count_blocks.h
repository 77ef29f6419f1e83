/*
 * count_blocks.h: what each block of a launch has to do, for launches whose blocks differ:
 * neighbours that are alike are kept as one.
 */
#ifndef LOCKSTEP_WATCH_COUNT_BLOCKS_H
#define LOCKSTEP_WATCH_COUNT_BLOCKS_H

#include "gpu/counters.h"
#include "gpu/deal.h"
#include "simt/watch.h"

struct count_blocks {
    struct gpu_blocks *runs;
    size_t count, capacity;
    double path, waited, late, loads, hidden; /* quarters of cycles of warps */
};

void count_blocks_begin(struct simt_block *block);
/* A barrier lets these lanes go: its warps are as late as the last of them. */
void count_blocks_barrier(struct count_blocks *blocks, struct simt_block *block,
                          const uint32_t *lanes);
void count_blocks_end(struct count_blocks *blocks, const struct simt_block *block);
/* Into the launch's sum. */
void count_blocks_sum(const struct count_blocks *blocks, const struct simt_launch_state *launch,
                      struct gpu_counters *sum);
void count_blocks_close(struct count_blocks *blocks);

#endif
