/*
 * fit.h: what the numbers of a launch come from. The same number is known for several samples
 * (other sizes, tunables, GPUs); the simplest expression that gives it in all of them is looked for
 * among those that launches are made of:
 *
 *   4 * BLOCK * ROWS    BM * BN / TM / TN    8 * blocks + 16    ceil_div(n, 4 * BLOCK)
 *   lesser(ceil_div(n, BLOCK), sms * BLOCKS_PER_SM)    ceil_div(rows, 32) * ceil_div(cols, 32)
 */
#ifndef LOCKSTEP_EXPORT_FIT_H
#define LOCKSTEP_EXPORT_FIT_H

#include "base/buf.h"

#include <stdbool.h>

#define EXPORT_SAMPLES 128
#define EXPORT_ATOMS 64

enum export_atom_kind {
    EXPORT_SIZE,        /* of the problem, or a count that was made of one */
    EXPORT_TUNABLE,     /* a macro of the source */
    EXPORT_DEVICE,      /* of the GPU */
    EXPORT_SIZE_SUM,    /* "(n + m)" */
    EXPORT_TUNABLE_SUM, /* "(BM + BN)" */
};

/* A name that expressions may use. */
struct export_atom {
    char name[40];
    enum export_atom_kind kind;
    double value[EXPORT_SAMPLES];
};

struct export_fit {
    struct export_atom atom[EXPORT_ATOMS];
    unsigned atom_count, sample_count;
};

/* factor * the product of over / the product of under + plus; divisions are of whole numbers.
 * Without atoms it is the number factor. */
struct export_term {
    double factor, plus;
    unsigned char over[3], under[2]; /* atoms */
    unsigned char over_count, under_count;
};

enum export_form {
    EXPORT_TERM,    /* a */
    EXPORT_CEIL,    /* ceil_div(a, b) */
    EXPORT_CEILS,   /* ceil_div(a, b) * ceil_div(c, d) */
    EXPORT_LIMITED, /* lesser(ceil_div(a, b), c) */
};
struct export_expression {
    enum export_form form;
    struct export_term a, b, c, d;
};

/* False if there is none. value has one number for each sample. */
bool export_fit(const struct export_fit *fit, const double *value,
                struct export_expression *expression);
double export_value(const struct export_fit *fit, const struct export_expression *expression,
                    unsigned sample);
void export_print(const struct export_fit *fit, const struct export_expression *expression,
                  struct lk_buf *text);

#endif
