/*
 * check.h: what lockstep check found, read from the checker's file (check_read.c) and printed
 * (check_print.c).
 */
#ifndef LOCKSTEP_CLI_CHECK_H
#define LOCKSTEP_CLI_CHECK_H

#include <jansson.h>
#include <stdbool.h>

struct check_findings {
    json_t *errors, *remarks; /* arrays of objects as `check --json` prints them */
};

/* program: whose addresses the file has. False after an error was said. */
bool check_read(const char *path, const char *program, struct check_findings *findings);
void check_free(struct check_findings *findings);

void check_print_json(const struct check_findings *findings);
void check_print(const struct check_findings *findings, int program_status);

#endif
