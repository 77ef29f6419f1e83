/*
 * job.h: children of the studio: a verdict, or a run of a library kernel.
 */
#ifndef LOCKSTEP_STUDIO_JOB_H
#define LOCKSTEP_STUDIO_JOB_H

#include "studio/request.h"

struct studio_job {
    const void *subject; /* a newer job of the same one ends an older; NULL: none does */
    struct studio_job *next;
    pid_t child; /* 0: not started, or ended */
    bool superseded;
    char *folder, *out, *log; /* its own place, and what it writes to */
};

enum { JOB_WORDS = 17 };
enum job_end { JOB_ENDED, JOB_SUPERSEDED, JOB_FAILED };
/* Fills in the command, JOB_WORDS at most; job->folder is known by then. */
typedef void job_words(const void *context, const struct studio_job *job, const char **words);
/* Runs it in folder, or in its own if that is NULL. The lock is held, and let go while it waits.
 * JOB_FAILED: with a malloc'd message. What it wrote can be read until job_end. */
enum job_end job_run(struct studio *studio, struct studio_job *job, job_words *words,
                     const void *context, const char *folder, char **message);
void job_end(struct studio *studio, struct studio_job *job);
void job_stop_all(struct studio *studio); /* the lock is held */

#endif
