/*
 * zoo_export.h: lockstep zoo export.
 */
#ifndef LOCKSTEP_CLI_ZOO_EXPORT_H
#define LOCKSTEP_CLI_ZOO_EXPORT_H

#include "cli/families.h"

struct zoo_export_options {
    const char *file; /* -o; NULL: stdout */
    bool force;       /* --force: overwrite */
};

/* request: one name, perhaps a problem and a GPU. Returns the exit status. */
int zoo_export(const struct families_request *request, const struct zoo_export_options *options);

#endif
