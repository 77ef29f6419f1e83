/*
 * studio.h: the course in a browser: a web server that only this computer's learner can use.
 *   studio_start -> studio_url -> studio_wait -> studio_stop
 * docs/studio.md describes its answers.
 */
#ifndef LOCKSTEP_STUDIO_STUDIO_H
#define LOCKSTEP_STUDIO_STUDIO_H

#include "learn/learner.h"

struct studio;

/* All of it stays the caller's, and must live until studio_stop. */
struct studio_options {
    const struct learn_course *course;
    struct learn_progress *progress;
    struct learn_grader grader; /* without a compiler, everything but checks works */
    const char *folder;         /* the learner's; NULL: the first page offers to make one, */
    const char *begin;          /* here */
    const char *web;            /* our pages' files */
    const char *kernels;        /* FAMILY/README.md and journey.svg; NULL: not there */
    unsigned port;              /* 0: a free one */
};

/* NULL and a malloc'd message. */
struct studio *studio_start(const struct studio_options *options, char **message);
/* With the token; only the learner should see it. */
const char *studio_url(const struct studio *studio);
/* The same for one visit, for the command line of a browser, which other users can read. */
const char *studio_visit(const struct studio *studio);
/* Until this process is asked to end (SIGINT, SIGTERM or SIGHUP). */
void studio_wait(struct studio *studio);
void studio_stop(struct studio *studio);

#endif
