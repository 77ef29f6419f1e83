/*
 * values.h: the numbers in the inputs of a lesson's own problem. They are quarters between -8 and
 * 8: a person can check them by hand, and sums and products of them are exact in f32, so that a
 * right kernel is right to the last bit. What is drawn anew for every check is less regular.
 */
#ifndef LOCKSTEP_LEARN_VALUES_H
#define LOCKSTEP_LEARN_VALUES_H

#include "learn/lesson.h"

/* What is done to quarters: see values.c. */
enum values_change { UNCHANGED, FINE, LOW, LOUD_DOWN, LOUD_UP, DEEP, DEEP_FEW, SPECIAL, SKEWED };

enum values_change values_change(const struct learn_problem *problem, unsigned size,
                                 unsigned buffer);
/* row: elements of a row, longest: of the longest extent, stream: the buffer's number. */
void values_fill(const struct learn_buffer *buffer, uint64_t seed, unsigned stream,
                 enum values_change how, size_t row, size_t longest, void *data, size_t count);

enum { VALUES_RUN = 32 }; /* of zeros, and the row of a buffer that has none */

#endif
