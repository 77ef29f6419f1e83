/*
 * beside.h: which launches run now; see beside.c.
 */
#ifndef LOCKSTEP_SIMT_BESIDE_H
#define LOCKSTEP_SIMT_BESIDE_H

#include "simt/watch.h"

/* Waits until the launch may begin, and gives it what launches share; seconds: how long it took. */
void simt_launch_enter(struct simt_launch_state *state);
void simt_launch_leave(struct simt_launch_state *state, double seconds);

/* After each turn of a worker: did its block only poll? For a long time? */
void simt_worker_polls(struct simt_worker *worker, bool polls, bool for_long);
void simt_worker_ends(struct simt_worker *worker);

#endif
