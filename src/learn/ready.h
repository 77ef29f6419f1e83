/*
 * ready.h: the questions of 'lockstep learn ready', in course/ready.json: each has a topic and the
 * lesson that treats it, so that the ones that were missed say where to begin.
 *
 *   [{"topic": "..", "lesson": "preflight/day1_shapes_strides", "question": {as in a quiz}}, ..]
 */
#ifndef LOCKSTEP_LEARN_READY_H
#define LOCKSTEP_LEARN_READY_H

#include "learn/audit.h"

enum { LEARN_READY_QUESTIONS = 32 };

struct learn_ready {
    struct learn_lesson *quiz;                /* its id is "ready"; it has no exercises */
    const char *topic[LEARN_READY_QUESTIONS]; /* of each question */
    unsigned lesson[LEARN_READY_QUESTIONS];   /* of the course, by its place there */
};

/* NULL and a malloc'd message that names file and field. */
struct learn_ready *learn_ready_read(const struct learn_course *course, char **message);
void learn_ready_free(struct learn_ready *ready);

/* The lesson to begin with: the first of the course among those of missed questions; the first week
 * if none was missed. */
unsigned learn_ready_start(const struct learn_ready *ready, const struct learn_course *course,
                           const bool *right);

/* Is ready.json sound? A course may be without it. How many things are not fine. */
unsigned learn_ready_audit(const struct learn_course *course, learn_audit_note *note,
                           void *context);

#endif
