/*
 * counters.h: counts what a launch does, as a GPU profiler would, and writes it to a file that
 * `lockstep profile` reads (docs/profile.md).
 */
#ifndef LOCKSTEP_WATCH_COUNTERS_H
#define LOCKSTEP_WATCH_COUNTERS_H

#include "simt/watch.h"

/* Appends to the file at path; NULL, after a message on stderr, if it cannot be written. */
struct simt_watcher *counters_open(struct simt_machine *machine, const char *path);
/* One that only counts launches that are timed, and writes nothing: simt_stats has their time. */
simt_timer_open counters_open_timer;
/* Whole lines from elsewhere for LOCKSTEP_PROFILE's file; lost if it cannot be written. */
void counters_append(const char *text, size_t size);
/* A second one that writes to LOCKSTEP_PROFILE, for a launch that runs beside another. */
simt_timer_open counters_open_beside;

#endif
