/*
 * run.h: measures families and problems by name, one after the other; for 'bench' and 'roofline'.
 */
#ifndef LOCKSTEP_BENCH_RUN_H
#define LOCKSTEP_BENCH_RUN_H

#include "base/list.h"
#include "bench/results.h"

struct bench_run_request {
    const struct lk_list *names; /* FAMILY[/VARIANT]; none: all families */
    const char *problems;        /* "n=1,2 op=sum"; NULL: the family's own */
    double seconds;              /* for each problem */
    bool no_peers, only_peers;
    bool quick; /* of the family's own problems only the main ones, its first line; on a simulated
                 * GPU only the first */
    bool first_only; /* only the very first */
    /* Callbacks; each may be NULL. */
    void *context;
    /* Before anything is measured; false: skip this one. */
    bool (*begin)(void *context, const struct bench_report *report);
    /* After each problem: its result, the last of the report, or why there is none. */
    void (*done)(void *context, const struct bench_report *report, const char *trouble);
    void (*progress)(void *context, const char *what, double fraction);
};

struct bench_run {
    struct bench_session *session;
    struct bench_report report;
    bool refused; /* by begin */
    bool failed;  /* a problem could not be measured; done was told why */
};

/* False and a malloc'd message if a name is not known, or the GPU does not open. gpu as for
 * bench_open. The run must be freed in any case. */
bool bench_run(const struct bench_run_request *request, const char *gpu, struct bench_run *run,
               char **message);
void bench_run_free(struct bench_run *run);

#endif
