/*
 * fit.h: finds where the numbers of a launch come from. The same number is known for several
 * samples (other sizes, tunables, GPUs); the simplest expression that gives it in all of them is
 * searched among those that launches are made of:
 *
 *   4 * BLOCK * ROWS    BM * BN / TM / TN    8 * blocks + 16    ceil_div(n, 4 * BLOCK)
 *   lesser(ceil_div(n, BLOCK), sms * BLOCKS_PER_SM)    ceil_div(rows, 32) * ceil_div(cols, 32)
 */
#ifndef LOCKSTEP_EXPORT_FIT_H
#define LOCKSTEP_EXPORT_FIT_H

#include "base/buf.h"

#include <stdbool.h>

#define EXPORT_SAMPLES 400
#define EXPORT_ATOMS 64

enum export_atom_kind {
    EXPORT_SIZE,        /* of the problem */
    EXPORT_TUNABLE,     /* a macro of the source */
    EXPORT_DEVICE,      /* of the GPU */
    EXPORT_COUNT,       /* stands for an expression of its own */
    EXPORT_SIZE_SUM,    /* "(n + m)" */
    EXPORT_TUNABLE_SUM, /* "(BM + BN)" */
};

/* factor * the product of over / the product of under + plus; divisions are of whole numbers. */
struct export_term {
    double factor, plus;
    unsigned char over[3], under[2]; /* atoms */
    unsigned char over_count, under_count;
};

enum export_form {
    EXPORT_TERM,    /* a */
    EXPORT_SUM,     /* a + b */
    EXPORT_CEIL,    /* ceil_div(a, b) */
    EXPORT_CEILS,   /* ceil_div(a, b) * ceil_div(c, d) */
    EXPORT_LIMITED, /* lesser(ceil_div(a, b), c) */
};
struct export_expression {
    enum export_form form;
    struct export_term a, b, c, d;
};

/* A name that expressions may use. */
struct export_atom {
    char name[40];
    enum export_atom_kind kind;
    double value[EXPORT_SAMPLES];
    struct export_expression meaning; /* of an EXPORT_COUNT */
};

struct export_fit {
    struct export_atom atom[EXPORT_ATOMS];
    unsigned atom_count, sample_count;
    unsigned named; /* those of kind EXPORT_COUNT begin here */
};

/* NULL if there are too many, or the name is too long. */
struct export_atom *export_add_atom(struct export_fit *fit, enum export_atom_kind kind,
                                    const char *name);

/* An expression whose value is value[s] in each sample s; false if there is none.
 * EXPORT_FIT_SIZES: with nothing but sizes, and no divisions. */
enum export_fit_with { EXPORT_FIT_ALL, EXPORT_FIT_SIZES };
bool export_fit(const struct export_fit *fit, const double *value, enum export_fit_with with,
                struct export_expression *expression);
double export_real_value(const struct export_fit *fit, const struct export_term *term,
                         unsigned sample); /* without rounding down */
double export_term_value(const struct export_fit *fit, const struct export_term *term,
                         unsigned sample);
double export_value(const struct export_fit *fit, const struct export_expression *expression,
                    unsigned sample);
void export_print(const struct export_fit *fit, const struct export_expression *expression,
                  struct lk_buf *text);

/* Names for expressions -------------------------------------------------------------------------*/

/* Gives the expression a name, so that others can use it. */
void export_name(struct export_fit *fit, const struct export_expression *expression);
int export_name_of(const struct export_fit *fit, const struct export_expression *expression);
void export_set_named(struct export_fit *fit); /* computes them for samples that were added */
/* The length of the pieces that a named expression divides into, in the first sample. */
double export_piece(const struct export_fit *fit, unsigned atom);
/* Marks the atoms that an expression and what it is made of use. */
void export_mark(const struct export_fit *fit, const struct export_expression *expression,
                 bool *used);

#endif
