/*
 * clock.h: the time that passes.
 */
#ifndef LOCKSTEP_BASE_CLOCK_H
#define LOCKSTEP_BASE_CLOCK_H

/* Seconds of a clock that nobody sets. */
double lk_seconds(void);

#endif
