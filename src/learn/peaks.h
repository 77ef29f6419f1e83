/*
 * peaks.h: inputs for references that take exponentials against a largest value, as a softmax does.
 * Subtracting any number gives the right result as long as nothing overflows, so that usual inputs
 * hide a largest value that is wrong. These do not:
 *
 * LOW: everything lies far below 0, so that no constant stands for minus infinity.
 * LONE: one number lies far above all others, anywhere in a row, so that none may be left out.
 * TAIL: the end of a row lies above its beginning, so that the beginning is not enough.
 */
#ifndef LOCKSTEP_LEARN_PEAKS_H
#define LOCKSTEP_LEARN_PEAKS_H

#include "learn/lesson.h"

/* How long that is of which a largest value is taken, in one of the problem's sizes; 0 if none is.
 */
size_t peaks_length(const struct learn_problem *problem, unsigned size);

/* Changes a buffer's values, if they are drawn ones that a largest value is taken of. */
void peaks_put(const struct learn_problem *problem, unsigned size, unsigned buffer, void *data,
               size_t count);

#endif
