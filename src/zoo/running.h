/*
 * running.h: running sums in higher precision, for references: what a stretch of elements does to a
 * sum that runs over it. Stretches are summed up side by side and then follow one another.
 */
#ifndef LOCKSTEP_ZOO_RUNNING_H
#define LOCKSTEP_ZOO_RUNNING_H

#include "zoo/types.h"

#include <math.h>
#include <stddef.h>

struct zoo_running {
    long double sum;
    long double lowest, highest; /* the sum on the way, 0 at the beginning */
    long double largest;         /* magnitude of an element */
};

static inline void zoo_run_over(struct zoo_running *running, long double element)
{
    running->sum += element;
    running->lowest = fminl(running->lowest, running->sum);
    running->highest = fmaxl(running->highest, running->sum);
    running->largest = fmaxl(running->largest, fabsl(element));
}

/* A malloc'd array: [s] is what has run before element s * ZOO_STRETCH, the last all of them. */
enum { ZOO_STRETCH = 1 << 16 };
size_t zoo_stretches(size_t count);
struct zoo_running *zoo_run_stretches(enum zoo_type type, const void *data, size_t count);

#endif
