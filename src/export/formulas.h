/*
 * formulas.h: a variant's launches for one problem, and what each of their numbers comes from:
 * launches of other problems, with other tunables and on other GPUs are recorded beside them, and
 * an expression is found for what changes.
 */
#ifndef LOCKSTEP_EXPORT_FORMULAS_H
#define LOCKSTEP_EXPORT_FORMULAS_H

#include "export/export.h"
#include "export/fit.h"
#include "export/pieces.h"
#include "export/record.h"

#define EXPORT_SLOTS (EXPORT_NUMBERS + 1 + ZOO_BUFFERS)

struct export_formulas {
    struct export_recording base;
    struct export_fit fit;
    /* The numbers of base, the bytes of the workspace, and the elements of each buffer. */
    unsigned slot_count, workspace, buffers;
    struct export_expression expression[EXPORT_SLOTS];
    unsigned named; /* the first atom that stands for an expression of its own */
    struct export_expression meaning[EXPORT_ATOMS]; /* of those */
    bool used[EXPORT_ATOMS];                        /* by any of the expressions */
    bool fixed; /* other sizes need other launches, or numbers that no expression was found for */
};

bool export_formulas(const struct export_request *request, const struct zoo_tuning *tuning,
                     const struct ptx_module *ptx, struct export_formulas *formulas,
                     char **message);

/* The atom whose meaning this is, or -1. */
int export_name_of(const struct export_formulas *formulas, const struct export_expression *wanted);

#endif
