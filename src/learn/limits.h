/*
 * limits.h: counters of a launch against what an exercise allows, with the line at fault.
 */
#ifndef LOCKSTEP_LEARN_LIMITS_H
#define LOCKSTEP_LEARN_LIMITS_H

#include "base/buf.h"
#include "report/profile.h"

/* Is this a counter of gpu/counters.def, or one of the ratios in limits.c? */
bool limits_knows(const char *counter);
bool limits_is_ratio(const char *counter);

struct limits_result {
    double value;
    bool kept;
    const char *file; /* of the line to blame; NULL if none is known */
    unsigned line;
};

/* The same for an exercise with NumPy or CuPy, of which there are also lines, launches and copies.
 */
bool limits_knows_host(const char *counter);
/* Evaluates a counter of {"python_lines": {"value": 12, "line": 7}, ..}: worker_host.c. */
struct limits_result limits_check_host(const json_t *counters, const char *counter, double most,
                                       struct lk_buf *text);

/* Evaluates a counter of launch. If it is above most, says why in text, without file and line. */
struct limits_result limits_check(const struct profile_launch *launch, const char *counter,
                                  double most, struct lk_buf *text);

#endif
