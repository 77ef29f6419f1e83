/*
 * checker.h: looks for errors in a launch (bounds, races, uninitialised reads, synchronisation,
 * leaks) and writes what it finds to a file that `lockstep check` reads (docs/check.md).
 */
#ifndef LOCKSTEP_CHECK_CHECKER_H
#define LOCKSTEP_CHECK_CHECKER_H

#include "simt/watch.h"

/* Appends to the file at path; NULL, after a message on stderr, if it cannot be written. */
struct simt_watcher *checker_open(struct simt_machine *machine, const char *path);

#endif
