/*
 * worker.h: between worker.c and worker_host.c.
 */
#ifndef LOCKSTEP_LEARN_WORKER_H
#define LOCKSTEP_LEARN_WORKER_H

#include "learn/grade.h"

/* Fills result's "sizes" and "counters" for an exercise whose function Python calls. *message: what
 * kept it from being called at all, malloc'd. */
void worker_run_host(const struct learn_exercise *exercise, const struct learn_worker_files *files,
                     json_t *result, char **message);

#endif
