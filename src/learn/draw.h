/*
 * draw.h: the sizes and values that nobody knows before a check. A kernel that was fitted to the
 * sizes a lesson lists, or that has their answers in a table, fails on these.
 */
#ifndef LOCKSTEP_LEARN_DRAW_H
#define LOCKSTEP_LEARN_DRAW_H

#include "learn/lesson.h"

/* A seed from the system's randomness; never 0. */
uint64_t draw_seed(void);
/* Adds sizes to problem, a copy of the lesson's: one that is a little smaller than the measured
 * one, others at random, and some that are far beyond. instructions: of the solution's warps at the
 * measured size, 0 if not known: it limits how far. The values of those and of the measured one
 * come from seed; those of the other listed sizes stay, so that they can be worked out by hand.
 * False and a malloc'd message if the lesson's "hidden" or "far" is wrong. */
bool draw_sizes(struct lk_arena *arena, struct learn_problem *problem, double instructions,
                uint64_t seed, char **message);

#endif
