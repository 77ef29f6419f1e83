/*
 * deal.h: when the last block of a launch ends, if blocks differ: how the GPU deals them out over
 * its SMs, and how long the blocks that share an SM keep each other. Of equal blocks the time model
 * knows it without (model.c).
 */
#ifndef LOCKSTEP_GPU_DEAL_H
#define LOCKSTEP_GPU_DEAL_H

#include "gpu/gpu.h"

/* Neighbouring blocks that are alike. */
struct gpu_blocks {
    uint64_t count;
    float alone; /* cycles that each needs by itself, waits included, */
    float busy;  /* and those in which it keeps its SM's busiest unit busy */
};

/* Cycles until the last block ends, with the launch's start; resident: blocks on an SM. */
double gpu_deal(const struct gpu_info *gpu, unsigned resident, const struct gpu_blocks *blocks,
                size_t count);

#define GPU_START_CYCLES 2100.0 /* until code, parameters and tables of pages have come */
#define GPU_BLOCK_CYCLES 1.13   /* to start a block, one after the other for the whole GPU */

#endif
