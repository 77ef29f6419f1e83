/*
 * standin.h: what bench/calls and tests/zoo ask the driver that does nothing (standin.c): how often
 * each function was called.
 */
#ifndef LOCKSTEP_BENCH_CALLS_STANDIN_H
#define LOCKSTEP_BENCH_CALLS_STANDIN_H

#include "cuda/abi.h"

enum standin_function {
#define FN(result, name, parameters, arguments) STANDIN_##name,
#include "cuda/api.def"
    STANDIN_FUNCTIONS
};

/* Exported by it, for dlsym: calls of each function since the start, by enum standin_function. */
typedef const unsigned long *standin_counts_function(void);
#define STANDIN_COUNTS "standin_counts"

#endif
