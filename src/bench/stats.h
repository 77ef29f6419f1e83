/*
 * stats.h: statistics of repeated timings: median, quartiles, how certain the median is, and
 * whether two medians differ. Times of kernels have a floor and a tail, so nothing here assumes a
 * normal distribution.
 */
#ifndef LOCKSTEP_BENCH_STATS_H
#define LOCKSTEP_BENCH_STATS_H

#include <stddef.h>

struct bench_summary {
    size_t count;
    double median, q1, q3;
    double low, high; /* the median lies between them with 95 % */
};

/* samples stay as they are; all zero without samples. */
struct bench_summary bench_summarise(const double *samples, size_t count);
/* Half the interval, as a fraction of the median; infinite without an interval. */
double bench_uncertainty(const struct bench_summary *summary);

enum bench_verdict { BENCH_BETTER, BENCH_SAME, BENCH_WORSE, BENCH_AMBIGUOUS };
extern const char *const bench_verdict_names[];

/* Times: less is better. threshold 0.01: changes of less than 1 % are the same. A change counts
 * only if the intervals do not touch; two medians are the same only if both are known well enough.
 */
enum bench_verdict bench_compare(const struct bench_summary *before,
                                 const struct bench_summary *after, double threshold);

#endif
