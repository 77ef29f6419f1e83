/*
 * problem_parts.h: what problem.c and sample.c share: sizes, references, comparison of an element.
 */
#ifndef LOCKSTEP_LEARN_PROBLEM_PARTS_H
#define LOCKSTEP_LEARN_PROBLEM_PARTS_H

#include "base/buf.h"
#include "learn/lesson.h"

/* With the parameters of a size, and no arrays. */
struct expression_state problem_state(const struct learn_problem *problem, unsigned size);
bool problem_extents(const struct learn_problem *problem, unsigned size, unsigned buffer,
                     size_t extent[EXPRESSION_RANK], size_t *count, char **message);
/* The rule's value at one element; at counts through all extents. */
double problem_evaluate(const struct expression_rule *rule, unsigned rank,
                        struct expression_state *state, size_t at);
bool problem_agrees(double value, double expected, double bound);
/* "c[3][5]". */
void problem_print_place(const struct learn_buffer *buffer, const size_t *extent, size_t at,
                         struct lk_buf *text);

#endif
