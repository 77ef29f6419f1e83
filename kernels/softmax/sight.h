/*
 * sight.h: which columns a row sees: all masks but the additive one end a row early, and what lies
 * behind the end is not even read.
 */
#ifndef LOCKSTEP_SOFTMAX_SIGHT_H
#define LOCKSTEP_SOFTMAX_SIGHT_H

#include "rows.h"

enum { SOFTMAX, LOG_SOFTMAX, LOG_SUM_EXP };
enum masks { CAUSAL = 1, PADDING = 2 };

/* What a row sees: the columns before all of these limits. Rows are numbered within their group, as
 * queries are within a head; a group's last row sees all columns through the causal mask. */
struct sight {
    long long cols, group;
    const int *lengths; // [rows / group], with the padding mask
    int mask;           // of enum masks
};

static __device__ __forceinline__ long long visible(sight s, long long row)
{
    long long end = s.cols;
    if (s.mask & CAUSAL)
        end = min(end, max(0ll, s.cols - s.group + row % s.group + 1));
    if (s.mask & PADDING)
        end = min(end, max(0ll, (long long)s.lengths[row / s.group]));
    return end;
}

#endif
