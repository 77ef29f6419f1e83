/*
 * zoo.h: what the words of 'lockstep zoo' ask for.
 */
#ifndef LOCKSTEP_CLI_ZOO_H
#define LOCKSTEP_CLI_ZOO_H

#include "base/buf.h"
#include "cli/cli.h"
#include "zoo/trial.h"

struct cli_zoo {
    struct lk_list names;   /* FAMILY[/VARIANT] */
    struct lk_buf problems; /* "n=1,2 op=sum" */
    const char *gpu;
    bool verbose, json;
    struct zoo_trial_request trial; /* test and run */
    const char *file;               /* export: -o; NULL: stdout */
    bool force;                     /* export: overwrite it */
};

/* These return the exit status. */
int cli_zoo_export(const struct cli_zoo *options);
int cli_zoo_memory(const struct cli_zoo *options);

#endif
