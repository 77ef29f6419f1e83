/*
 * tune.h: finds the variant and the tunables that solve problems of a family fastest on one GPU.
 *
 *   tune_run searches, tune_write keeps what it found where zoo/table.h reads it.
 *
 * The search: every variant with its normal values first; then, for those near the best, one
 * tunable after the other (its other choices are compiled side by side) until none helps; then
 * random ones while time is left. What does not compile, launch or agree with the reference is
 * skipped.
 */
#ifndef LOCKSTEP_TUNE_TUNE_H
#define LOCKSTEP_TUNE_TUNE_H

#include "base/buf.h"
#include "toolchain/find.h"
#include "zoo/instance.h"

#include <jansson.h>
#include <stdio.h>

struct tune_row;

struct tune_request {
    const struct zoo_family *family;
    const struct zoo_variant *only; /* NULL: all */
    const struct zoo_problem *problems;
    size_t count;
    const struct toolchain_compiler *compiler; /* NULL: only the built-in kernels */
    unsigned jobs;                             /* compilers at a time */
    double seconds;                            /* for everything */
    uint64_t seed;
    bool verbose; /* a line on stderr for each configuration */
    /* What is done now, and how much of the time is spent. NULL: not reported. */
    void (*progress)(void *context, const char *what, double fraction);
    /* After each problem for which something was found. NULL: nobody waits for it. */
    void (*found)(void *context, const struct tune_row *row);
    void *context;
};

/* What was found for one problem. */
struct tune_row {
    struct zoo_problem problem;
    const struct zoo_variant *variant; /* NULL: none works; message says why */
    struct zoo_tuning tuning;
    bool normal;                              /* these are all its normal values */
    char *ptx;                                /* what to load; NULL: the built-in kernels */
    double seconds;                           /* of one launch */
    const struct zoo_variant *normal_variant; /* the best of the built-in ones */
    double normal_seconds;
    unsigned tried, skipped;
    char *message; /* of the first that was skipped */
};

/* One row a problem, in rows[]. False and a malloc'd message if nothing could be done at all. */
bool tune_run(const struct zoo_device *device, const struct tune_request *request,
              struct tune_row *rows, char **message);
void tune_rows_free(struct tune_row *rows, size_t count);

void tune_print(FILE *out, const struct zoo_device *device, const struct tune_request *request,
                const struct tune_row *rows);
json_t *tune_json(const struct zoo_device *device, const struct tune_request *request,
                  const struct tune_row *rows);

/* Adds the row to the table in path, made if it is not there; one of the same problem goes. PTX
 * files lie beside it. */
bool tune_write(const struct zoo_device *device, const struct tune_request *request,
                const struct tune_row *row, const char *path, char **message);
/* Has the table in path this problem's row, made from the sources as they are? */
bool tune_has_row(const struct zoo_device *device, const struct zoo_problem *problem,
                  const char *path);

/* Timing ----------------------------------------------------------------------------------------*/

/* Seconds of one launch, by events; modelled on a simulated GPU. budget: about how long it may
 * take. false and a malloc'd message if a launch failed. */
bool tune_time(struct zoo_run *run, double budget, double *seconds, char **message);

/* Compiling -------------------------------------------------------------------------------------*/

/* A folder with the embedded headers, for many compilations. NULL and a message on failure. */
struct tune_workshop;
struct tune_workshop *tune_workshop_open(const struct toolchain_compiler *compiler, char **message);
void tune_workshop_close(struct tune_workshop *workshop);

struct tune_job {
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    struct zoo_tuning tuning;
    char *ptx;     /* malloc'd; NULL if it did not compile */
    char *message; /* why not */
};
/* At most at_a_time at once. */
void tune_compile(struct tune_workshop *workshop, struct tune_job *jobs, size_t count,
                  unsigned at_a_time);

/* The source with other values of its tunables. */
void tune_rewrite(const struct zoo_source *source, const struct zoo_tuning *tuning,
                  struct lk_buf *text);

#endif
