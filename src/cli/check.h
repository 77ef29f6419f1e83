/*
 * check.h: what lockstep check found, printed (check_print.c); report/check.h reads it.
 */
#ifndef LOCKSTEP_CLI_CHECK_H
#define LOCKSTEP_CLI_CHECK_H

#include "report/check.h"

void check_print_json(const struct check_findings *findings);
void check_print(const struct check_findings *findings, int program_status);

#endif
