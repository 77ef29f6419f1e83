/*
 * large.h: the modelled time of a kernel for the lesson's large size.
 */
#ifndef LOCKSTEP_LEARN_LARGE_H
#define LOCKSTEP_LEARN_LARGE_H

#include "learn/grade.h"

/* A "time": the kernel does not write its results there. */
#define LARGE_IDLE (-1.0)
/* This computer is too busy to tell. */
#define LARGE_UNKNOWN (-2.0)

struct large_wrong {
    char *text;   /* a malloc'd sentence if a result is wrong, else NULL */
    bool stopped; /* the kernel did not end there: wrong, or only far too slow */
};

/* The time in microseconds of folder/kernel.ptx; 0 if it takes so long that it was stopped. What
 * the large size costs goes into *totals. */
double large_run(const struct learn_grader *grader, const struct learn_exercise *exercise,
                 const char *folder, struct learn_totals *totals, struct large_wrong *wrong);

/* FLOPs or bytes of the large size, as the lesson's "work" says; 0 if it does not. */
double large_work(const struct learn_exercise *exercise);
/* A time of the large size beside that of the kernel before it and the solution's. */
struct learn_gain large_gain(const struct learn_exercise *exercise, double us);

#endif
