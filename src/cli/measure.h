/*
 * measure.h: the words that 'bench' and 'roofline' share: families, problems, the GPU and the time.
 */
#ifndef LOCKSTEP_CLI_MEASURE_H
#define LOCKSTEP_CLI_MEASURE_H

#include "bench/run.h"
#include "cli/cli.h"

struct cli_measure {
    struct lk_list names;   /* FAMILY[/VARIANT] */
    struct lk_buf problems; /* "n=1,2 op=sum" */
    const char *gpu;
    struct bench_run_request request; /* complete after cli_measure_check */
};

/* An option or a word of ours at *at, which moves on; false if it is not one. *bad: it is wrong,
 * and an error was printed. */
bool cli_measure_option(struct cli_measure *measure, int count, char **words, int *at, bool *bad);
/* Do the words make sense together? Prints an error if not. */
bool cli_measure_check(struct cli_measure *measure);
/* False after printing an error; problems that fail are printed too. Free the run in any case. */
bool cli_measure_run(struct cli_measure *measure, struct bench_run *run);
void cli_measure_free(struct cli_measure *measure);

#endif
