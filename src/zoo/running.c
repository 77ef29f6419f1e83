/*
 * running.c: running sums for references; see running.h.
 */
#include "zoo/running.h"

#include <stdlib.h>

static struct zoo_running run_on(struct zoo_running before, struct zoo_running next)
{
    return (struct zoo_running){.sum = before.sum + next.sum,
                                .lowest = fminl(before.lowest, before.sum + next.lowest),
                                .highest = fmaxl(before.highest, before.sum + next.highest),
                                .largest = fmaxl(before.largest, next.largest)};
}

size_t zoo_stretches(size_t count)
{
    return (count + ZOO_STRETCH - 1) / ZOO_STRETCH;
}

struct zoo_running *zoo_run_stretches(enum zoo_type type, const void *data, size_t count)
{
    size_t stretches = zoo_stretches(count);
    struct zoo_running *before = malloc((stretches + 1) * sizeof *before), none = {0};
    if (!before)
        abort();
#pragma omp parallel for schedule(dynamic) if (stretches > 1)
    for (size_t s = 0; s < stretches; s++) {
        struct zoo_running running = none;
        for (size_t i = s * ZOO_STRETCH; i < (s + 1) * ZOO_STRETCH && i < count; i++)
            zoo_run_over(&running, zoo_get(type, data, i));
        before[s + 1] = running;
    }
    before[0] = none;
    for (size_t s = 0; s < stretches; s++)
        before[s + 1] = run_on(before[s], before[s + 1]);
    return before;
}
