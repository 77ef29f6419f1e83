/*
 * mutate.h: small mistakes put into a solution, one at a time: a barrier dropped, x and y swapped,
 * off by one, no padding, = for +=. A lesson that does not catch one has sizes or limits that are
 * too weak.
 */
#ifndef LOCKSTEP_LEARN_MUTATE_H
#define LOCKSTEP_LEARN_MUTATE_H

#include "learn/audit.h"

enum mutant_kind {
    MUTANT_BARRIER, /* __syncthreads(); is gone */
    MUTANT_AXIS,    /* threadIdx.x to threadIdx.y and so on */
    MUTANT_BOUND,   /* < to <= and so on */
    MUTANT_INDEX,   /* [i] to [i + 1] */
    MUTANT_PADDING, /* of a __shared__ array: [33] to [32], [N + 1] to [N] */
    MUTANT_SUM,     /* += to = */
    MUTANT_SLIPS,   /* above: slips. Below: kernels that game the limits, mutate_whole.c */
    MUTANT_ONE_THREAD = MUTANT_SLIPS,
    MUTANT_ONE_LANE,
    MUTANT_ALL_BLOCKS, /* every block does all the work */
    MUTANT_LAST,       /* one less of a parameter */
    MUTANT_CONSTANT,   /* an output is a constant */
    MUTANT_ATOMICS,    /* an element is stored by an atomic */
    MUTANT_KINDS
};

struct mutant {
    enum mutant_kind kind;
    unsigned line, column; /* where it is, from 1 */
    size_t at, length;     /* what is replaced, in the source */
    char put[64];          /* by what */
    char *whole;           /* malloc'd: the mutant's whole source, in place of these; or NULL */
    char name[128];        /* "14:9 < to <=": how lesson.json calls it */
};

/* All of them, malloc'd; comments, strings and lines of the preprocessor stay as they are. */
struct mutant *mutants_find(const char *source, size_t *count);
/* Those that game the limits of the kernel of this name. */
struct mutant *mutants_find_whole(const char *source, const char *name, bool is_c, size_t *count);
void mutants_free(struct mutant *mutants, size_t count);
char *mutant_apply(const char *source, const struct mutant *mutant); /* malloc'd */

/* audit_mutants.c: every one must get a verdict other than 'passed', or be in the exercise's
 * "equivalent". some: only the first of each kind of slip, and one that games the limits, of each
 * exercise, that is not in there. Returns how many are not. */
struct mutant_counts {
    unsigned caught, equivalent, survived, not_compiled;
};
unsigned learn_audit_mutants(const struct learn_grader *grader, const struct learn_lesson *lesson,
                             bool some, learn_audit_note *note, void *context,
                             struct mutant_counts *counts);

#endif
