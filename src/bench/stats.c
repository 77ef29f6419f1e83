/*
 * stats.c: order statistics; see stats.h.
 */
#include "bench/stats.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const bench_verdict_names[] = {"better", "same", "worse", "ambiguous"};

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Between the two nearest ranks. */
static double quantile(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

struct bench_summary bench_summarise(const double *samples, size_t count)
{
    struct bench_summary summary = {.count = count};
    if (count == 0)
        return summary;
    double *sorted = lk_alloc(count * sizeof *sorted);
    memcpy(sorted, samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    summary.q1 = quantile(sorted, count, 0.25);
    summary.median = quantile(sorted, count, 0.5);
    summary.q3 = quantile(sorted, count, 0.75);
    /* How many samples lie below the true median is binomial with p = 1/2: 1.96 standard deviations
     * to both sides hold 95 %. */
    double n = (double)count, spread = 1.96 * sqrt(n) / 2;
    double first = floor(n / 2 - spread), last = ceil(n / 2 + spread);
    summary.low = sorted[first < 1 ? 0 : (size_t)first - 1];
    summary.high = sorted[last + 1 > n ? count - 1 : (size_t)last];
    free(sorted);
    return summary;
}

double bench_uncertainty(const struct bench_summary *summary)
{
    if (summary->count < 2 || !(summary->median > 0))
        return INFINITY;
    return (summary->high - summary->low) / 2 / summary->median;
}

enum bench_verdict bench_compare(const struct bench_summary *before,
                                 const struct bench_summary *after, double threshold)
{
    if (before->count == 0 || after->count == 0 || !(before->median > 0) || !(after->median > 0))
        return BENCH_AMBIGUOUS;
    double ratio = after->median / before->median;
    double least = after->low / before->high, most = after->high / before->low;
    if (ratio > 1 + threshold && least > 1)
        return BENCH_WORSE;
    if (ratio < 1 - threshold && most < 1)
        return BENCH_BETTER;
    if (fabs(ratio - 1) <= threshold && most - least <= 4 * threshold)
        return BENCH_SAME;
    return BENCH_AMBIGUOUS;
}
