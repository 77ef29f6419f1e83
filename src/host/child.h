/*
 * child.h: another program, run to its end under limits of time and memory: the compiler, and the
 * worker that runs a learner's kernel. It ends when this program does.
 */
#ifndef LOCKSTEP_HOST_CHILD_H
#define LOCKSTEP_HOST_CHILD_H

#include <signal.h>
#include <stdbool.h>

struct learn_child {
    const char *const *words;       /* the first is the program's path; ended by NULL */
    const char *const *environment; /* "NAME=value" sets, "NAME" takes away; ended by NULL */
    const char *log;                /* a file that gets what it prints */
    unsigned seconds, mib;          /* more of either ends it */
    bool reserves; /* it maps far more than it uses, so that only what is resident says something */
    const volatile sig_atomic_t *interrupted; /* ends it when it becomes true; may be NULL */
};

enum learn_end {
    LEARN_ENDED,       /* by itself */
    LEARN_SLOW,        /* too many seconds */
    LEARN_BIG,         /* too much memory */
    LEARN_LOUD,        /* it printed without end */
    LEARN_INTERRUPTED, /* the learner does not want to wait */
    LEARN_NOT_STARTED
};

/* Our environment with such changes, for execve; free() it. The words in it are not copied. */
const char **learn_environment(const char *const *changes);

/* *status: its exit status, or 128 + the signal that ended it. */
enum learn_end learn_child_run(const struct learn_child *child, int *status);

#endif
