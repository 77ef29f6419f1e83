/*
 * sample.h: for benchmarks of clients (python/clients/lockstep_bench.py), whose launches are run to
 * be timed: some blocks stand for all, and what the others would have written is incomplete.
 *
 * lk_driver_sample(instructions, rest, flags): from now on, timed launches count no more than so
 * many instructions of warps (0: all), where their blocks cannot wait for each other. The other
 * blocks run without being counted if that takes no more than `rest` instructions, and not at all
 * otherwise. Returns how many launches were cut so far. Flags:
 *   1  where launches that were cut write is kept; those of which that is not known are completed
 *   2  one was cut before: later launches may read what it wrote, so that theirs is kept, too
 *
 * lk_driver_incomplete(addresses, most): the addresses that were kept, one in each piece of memory,
 * which are forgotten then; returns how many. Bit 63: the launch also reads there. 0: a launch
 * wrote nobody knows where.
 *
 * lk_driver_guard(pairs, count): the first and the last address of memory that is incomplete.
 * Copies from it fail, and so do launches that are given a pointer to it, unless flag 1 is set:
 * then what they write is kept.
 */
#ifndef LOCKSTEP_DRIVER_SAMPLE_H
#define LOCKSTEP_DRIVER_SAMPLE_H

#include "driver/state.h"

uint64_t drv_sample_instructions(void);
/* Of a launch that was sampled: do its other blocks run? rest: their cost. */
bool drv_sample_completes(struct drv_kernel_work *kernel, double rest);
/* After a remark: the launch, or the copy, would read what is incomplete. */
bool drv_sample_refuses(const struct drv_kernel_work *kernel);
bool drv_sample_refuses_copy(uint64_t address, size_t size);
void drv_sample_ran(struct drv_kernel_work *kernel, bool cut);

#endif
