/*
 * bench.h: the parts of 'lockstep bench'.
 */
#ifndef LOCKSTEP_CLI_BENCH_H
#define LOCKSTEP_CLI_BENCH_H

#include "bench/history.h"

/* NULL and a malloc'd message. */
struct bench_history *bench_open_history(bool writable, char **message);
int bench_show_history(int count, char **words); /* 'bench history' */

#endif
