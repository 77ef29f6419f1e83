/*
 * measure.h: runs src/bench on the families and problems that the command line names, with a
 * progress bar; for 'bench' and 'roofline'.
 */
#ifndef LOCKSTEP_CLI_MEASURE_H
#define LOCKSTEP_CLI_MEASURE_H

#include "bench/results.h"
#include "cli/cli.h"

struct measure_request {
    struct lk_list names;   /* FAMILY[/VARIANT] */
    struct lk_buf problems; /* "n=1,2 op=sum"; empty: the family's own */
    const char *gpu;
    double seconds; /* for each problem */
    bool no_peers, only_peers;
    bool quick;      /* of the family's own problems only the main ones, its first line */
    bool first_only; /* only the very first */
    bool print;      /* a table as soon as a problem is done */
    /* Looks at the place before anything is measured there; false after an error was said. NULL:
     * any place will do. */
    bool (*accepts)(const struct bench_place *place, void *context);
    /* After each problem; NULL: nobody waits for it. */
    void (*after)(const struct bench_report *report, void *context);
    void *context;
};

struct measure {
    struct bench_session *session;
    struct bench_report report;
    bool failed; /* an error was said; what was measured before it is in the report */
};

/* An option or a word of ours at *at, which moves on; false if it is none. *bad: it is wrong, and
 * that was said. */
bool measure_word(struct measure_request *request, int count, char **words, int *at, bool *bad);
/* Are all names those of families? All families where none is named. An error was said if not. */
bool measure_check(struct measure_request *request);
void measure_request_free(struct measure_request *request);

/* False, after an error was said, if there is no such GPU or it is not accepted. */
bool measure_run(const struct measure_request *request, struct measure *measure);
void measure_free(struct measure *measure);

#endif
