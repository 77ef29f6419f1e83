/*
 * sample.h: launches that are run to be timed, of which some blocks stand for all. Where every SM
 * has its own share of the work, in launches that are followed in time and in products of tensor
 * cores, these are all blocks of some SMs, until three SMs' were alike; elsewhere neighbours, which
 * share what they read.
 */
#ifndef LOCKSTEP_SIMT_SAMPLE_H
#define LOCKSTEP_SIMT_SAMPLE_H

#include "simt/core.h"

void simt_sample_choose(struct simt_launch_state *state);
/* The launch is watched from here on. */
void simt_sample_begin(struct simt_launch_state *state, bool is_followed);
struct simt_block *simt_sample_take(struct simt_worker *worker);
/* What the blocks that did not run would cost: instructions of warps, products counted as several.
 */
double simt_sample_rest(const struct simt_launch_state *state);
bool simt_sample_is_by_sm(const struct simt_launch_state *state);
/* How much of the busiest SM's work has run. */
double simt_sample_part(const struct simt_launch_state *state);
bool simt_sample_has_products(const struct simt_launch_state *state);
void simt_sample_end(struct simt_launch_state *state);

#endif
