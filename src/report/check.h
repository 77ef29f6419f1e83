/*
 * check.h: what the machine's checker found, read from the file that it writes with LOCKSTEP_CHECK
 * (src/check/write.c).
 */
#ifndef LOCKSTEP_REPORT_CHECK_H
#define LOCKSTEP_REPORT_CHECK_H

#include "base/buf.h"
#include "report/report.h"

enum finding_kind {
#define FINDING(name, key, severity) FINDING_##name,
#include "gpu/finding_kinds.def"
#undef FINDING
    FINDING_KINDS
};

struct check_findings {
    json_t *errors, *remarks; /* arrays of objects as `check --json` prints them */
};

/* What messages call an allocation. */
struct check_names {
    /* malloc'd; NULL: as usual, "allocation #2 of 4096 bytes" */
    char *(*allocation)(void *context, unsigned number, uint64_t bytes);
    void *context;
};

/* program: whose addresses the file has; NULL: they are not looked up. names may be NULL. False and
 * a malloc'd message if the file cannot be read. */
bool check_read(const char *path, const char *program, const struct check_names *names,
                struct check_findings *findings, char **message);
void check_free(struct check_findings *findings);

enum finding_kind finding_kind(const json_t *finding); /* FINDING_KINDS: one that is not known */
/* ", block (0,1,0), thread (31,0,0)", as far as it is known. */
void finding_put_thread(struct lk_buf *text, const json_t *finding);

json_t *report_findings_json(const struct check_findings *findings);
void report_findings_text(FILE *out, const struct report_paint *paint,
                          const struct check_findings *findings, int program_status);

#endif
