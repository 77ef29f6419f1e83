/*
 * audit.h: proves a lesson: the exercise as it is given fails with the message that it should, the
 * solution passes, every wrong kernel fails for its stated reason, and text, quiz and hints are
 * sound.
 */
#ifndef LOCKSTEP_LEARN_AUDIT_H
#define LOCKSTEP_LEARN_AUDIT_H

#include "learn/grade.h"

/* One result: what was checked; why is NULL if it is fine. */
typedef void learn_audit_note(void *context, const char *what, const char *why);
/* How many things are not fine. */
unsigned learn_audit(const struct learn_grader *grader, const struct learn_lesson *lesson,
                     learn_audit_note *note, void *context);

/* figures.json of the lesson, from its solutions and `before` kernels; figures.c. How many could
 * not be graded. */
unsigned learn_write_figures(const struct learn_grader *grader, const struct learn_lesson *lesson,
                             learn_audit_note *note, void *context);
/* NULL, or what in figures.json does not fit the verdict on the solution; malloc'd. */
char *learn_check_figures(const struct learn_exercise *exercise,
                          const struct learn_verdict *verdict);

#endif
