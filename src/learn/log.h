/*
 * log.h: what a worker's output says: what the kernel printed, and the machine's own words on a
 * fault, which begin with "lockstep: " and go on in lines that are indented.
 */
#ifndef LOCKSTEP_LEARN_LOG_H
#define LOCKSTEP_LEARN_LOG_H

struct learn_log {
    char *printed; /* malloc'd: its first lines; NULL if it printed nothing. The caller's to keep */
    char *what;    /* malloc'd: "trap"; NULL if there was no fault */
    char *file;    /* malloc'd, with line: where, as far as it is known */
    unsigned line;
    char *where; /* malloc'd: "block (1,0,0), thread (44,0,0)"; or NULL */
};

struct learn_log log_read(const char *text);
void log_free(struct learn_log *log); /* all but what it printed */

#endif
