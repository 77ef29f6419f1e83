/*
 * check.h: what the machine's checker found, read from the file that it writes with LOCKSTEP_CHECK
 * (simt/check_write.c).
 */
#ifndef LOCKSTEP_REPORT_CHECK_H
#define LOCKSTEP_REPORT_CHECK_H

#include <jansson.h>
#include <stdbool.h>

struct check_findings {
    json_t *errors, *remarks; /* arrays of objects as `check --json` prints them */
};

/* program: whose addresses the file has; NULL: they are not looked up. False and a malloc'd message
 * if the file cannot be read. */
bool check_read(const char *path, const char *program, struct check_findings *findings,
                char **message);
void check_free(struct check_findings *findings);

#endif
