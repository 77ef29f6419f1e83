/*
 * twice.h: lockstep run --twice: the same program under two schedules, and where they part.
 */
#ifndef LOCKSTEP_CLI_TWICE_H
#define LOCKSTEP_CLI_TWICE_H

#include "cli/start.h"

/* schedule: of the second run, as in "random:1". Returns the exit status: 1 if the runs differ. */
int twice_run(struct lk_arena *arena, const struct start *start, const char *schedule, bool json);

#endif
