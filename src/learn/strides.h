/*
 * strides.h: where the elements of a tensor lie, and what permute, slice and reshape do to that:
 * new shape, new strides, and whether the numbers must be copied. The rules are those of NumPy and
 * PyTorch; strides count elements, as PyTorch's do.
 *
 *   strides_read_shape -> strides_apply -> strides_apply ...
 */
#ifndef LOCKSTEP_LEARN_STRIDES_H
#define LOCKSTEP_LEARN_STRIDES_H

#include <stdbool.h>
#include <stdint.h>

enum { STRIDES_RANK = 8 };

struct strides_tensor {
    unsigned rank;
    int64_t shape[STRIDES_RANK], stride[STRIDES_RANK];
    int64_t offset; /* of its first element in the storage */
};

/* REFUSED: a view was asked for, but only a copy is possible. */
enum strides_way { STRIDES_VIEW, STRIDES_COPY, STRIDES_REFUSED, STRIDES_WAYS };
extern const char *const strides_way_names[STRIDES_WAYS];

struct strides_step {
    struct strides_tensor tensor; /* afterwards; as before if it was refused */
    enum strides_way way;
    char *why; /* malloc'd sentences for a learner */
};

/* "2,3,4", laid out row by row. False and a malloc'd message. */
bool strides_read_shape(const char *text, struct strides_tensor *tensor, char **message);
/* operation: permute "2,0,1", transpose "0,1", slice "::2,1:3,0", reshape or view "6,-1",
 * contiguous, which takes no value. False and a malloc'd message if it makes no sense. */
bool strides_apply(const struct strides_tensor *from, const char *operation, const char *value,
                   struct strides_step *step, char **message);
/* Does this word name an operation, and does it take a value? */
bool strides_is_operation(const char *word, bool *takes_value);

bool strides_is_contiguous(const struct strides_tensor *tensor);

#endif
