/*
 * totals.h: what a kernel costs in all, against the solution's figures. Ratios can be kept by
 * switching threads off; totals cannot. A kernel that goes over one is told what it does: one
 * thread, one lane, one warp, every block all the work, atomics, a special case of the tested size.
 */
#ifndef LOCKSTEP_LEARN_TOTALS_H
#define LOCKSTEP_LEARN_TOTALS_H

#include "learn/verdict.h"
#include "report/profile.h"

extern const char *const totals_names[LEARN_TOTALS];

struct learn_totals totals_of(const struct profile_launch *launch);
/* Adds the totals to the verdict's counters, and a message if one is over its limit. The profile
 * has the launch of the measured size, then those of drawn sizes. shown: the learner's file, of
 * which a line is blamed. */
void totals_check(const struct learn_exercise *exercise, const struct profile *profile,
                  const char *shown, struct learn_verdict *verdict);

/* The same for the time that the large size takes. */
void totals_check_large(const struct learn_exercise *exercise, struct learn_verdict *verdict);

#endif
