/*
 * pieces.h: the hand-written parts of exported programs: kernels/FAMILY/host/export.inc has how a
 * family's inputs are filled and its outputs checked, kernels/host/export.inc the frame around it.
 * They are CUDA C with directives, which are carried out for one problem:
 *
 *   @{name}          a parameter's value (or word), or the C type of the buffer of that name;
 *                    @{name:bytes} of a buffer: how large an element is
 *   @if name=word|word    lines up to @elif, @else, @end only where the parameter has such a value;
 *                    name=float asks whether a scalar was given with a point, name>name which of
 *                    two is greater
 *   @include NAME    kernels/host/NAME
 *   @bytes EXPR      the floor: the least to and from memory, and the operations; in C, with the
 *   @flops EXPR      constants that stand above
 *   @functions       what stands before it goes to the top of the program, the rest after the
 *                    kernel
 *
 * Before @functions there are lines "const TYPE NAME = EXPR; // meaning": the problem's sizes.
 */
#ifndef LOCKSTEP_EXPORT_PIECES_H
#define LOCKSTEP_EXPORT_PIECES_H

#include "base/buf.h"
#include "zoo/zoo.h"

#define EXPORT_CONSTANTS 40

struct export_constant {
    char name[32];
    double value;
    bool whole; /* an integer */
};

struct export_pieces {
    struct lk_buf constants, functions; /* text */
    struct export_constant constant[EXPORT_CONSTANTS];
    unsigned constant_count;
    char bytes[256], flops[256]; /* expressions */
    double bytes_value, flops_value;
};

/* What a family says for one problem. On failure false and a malloc'd message; in both cases
 * export_pieces_free. */
bool export_pieces(const struct zoo_problem *problem, struct export_pieces *pieces, char **message);
void export_pieces_free(struct export_pieces *pieces);

/* Text with the directives carried out, of the embedded file kernels/PATH; every other line that
 * begins with '@' is given to block, which adds what stands for it. */
bool export_expand(const struct zoo_problem *problem, const char *path, struct lk_buf *text,
                   bool (*block)(void *context, const char *line, struct lk_buf *text),
                   void *context, char **message);

const char *export_c_type(enum zoo_type type);
/* "1048576"; a float gets its f. */
void export_number(struct lk_buf *text, double value, bool is_float);

/* The value of an expression of C, false if it is not one: + - * / < ? : exp and parentheses over
 * numbers and constants, with integers, floats or doubles. */
enum export_arithmetic { EXPORT_WHOLE, EXPORT_SINGLE, EXPORT_REAL };
bool export_evaluate(const char *text, const struct export_constant *constants, unsigned count,
                     enum export_arithmetic arithmetic, double *value);

#endif
