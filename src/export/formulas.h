/*
 * formulas.h: a variant's launches for one problem, and what each of their numbers comes from.
 */
#ifndef LOCKSTEP_EXPORT_FORMULAS_H
#define LOCKSTEP_EXPORT_FORMULAS_H

#include "export/samples.h"

#define EXPORT_SLOTS (EXPORT_NUMBERS + 1 + ZOO_BUFFERS)

struct export_formulas {
    struct export_samples samples; /* samples.base are the launches */
    struct export_expression expression[EXPORT_SLOTS];
    bool pinned[EXPORT_SLOTS]; /* a number that no expression was found for */
    bool used[EXPORT_ATOMS];   /* by any of the expressions */
    /* Sizes of which other values need other launches, or numbers that no expression gives. */
    bool fixed[ZOO_PARAMETERS];
};

/* kernels: their source. On failure false and a malloc'd message; in both cases
 * export_formulas_close. */
bool export_formulas_open(struct export_formulas *formulas, const struct export_request *request,
                          const struct zoo_tuning *tuning, const struct ptx_module *ptx,
                          const char *kernels, char **message);
void export_formulas_close(struct export_formulas *formulas);

#endif
