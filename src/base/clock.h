/*
 * clock.h: measures elapsed time.
 */
#ifndef LOCKSTEP_BASE_CLOCK_H
#define LOCKSTEP_BASE_CLOCK_H

/* Monotonic time in seconds. */
double lk_seconds(void);

#endif
