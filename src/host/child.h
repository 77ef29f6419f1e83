/*
 * child.h: another program: started and waited for, its output captured, or run under limits of
 * time and memory. There is no shell in between: every word reaches the program as it is.
 */
#ifndef LOCKSTEP_HOST_CHILD_H
#define LOCKSTEP_HOST_CHILD_H

#include "base/arena.h"
#include "base/buf.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* What to run, and where. A field that is zero leaves things as this process has them. */
struct host_command {
    const char *const *words;            /* argv, ended by NULL */
    const char *path;                    /* the program; NULL: words[0]. Not searched for on PATH */
    const char *const *environment;      /* "NAME=value" sets, "NAME" unsets; ended by NULL */
    const char *folder;                  /* to run in */
    const char *input, *output, *errors; /* files for stdin, stdout and stderr; emptied first */
    int input_fd, output_fd;             /* descriptors instead of input and output */
    bool joined;                         /* stderr goes where stdout goes */
    unsigned seconds;                    /* SIGALRM ends it after this long */
    bool own_group; /* has a process group of its own, which can be killed as a whole */
    /* Called with context in the child before the program starts; it may only do what a signal
     * handler may. False: do not start it; errno says why. */
    bool (*prepare)(const void *context);
    const void *context;
};

/* The child's id; -1, with errno set, if the program, its folder or one of its files cannot be
 * used. */
pid_t host_start(const struct host_command *command);
/* Its exit status, or 128 + the signal that ended it; 127 if child is -1. */
int host_wait(pid_t child);
int host_run(const struct host_command *command); /* both */
/* Runs it and appends what it prints on stdout to output. */
int host_capture(const struct host_command *command, struct lk_buf *output);
/* The same for a tool that is asked from inside a program that is not ours; stderr joins, and it is
 * killed after so many seconds. */
int host_ask(const char *const *words, unsigned seconds, struct lk_buf *output);

/* An executable file: name itself if it has a slash, else the first of that name on PATH. NULL if
 * there is none. */
char *host_find_program(struct lk_arena *arena, const char *name);

struct host_limits {
    unsigned seconds, mib; /* more of either ends it; a busy machine is no reason */
    bool reserves;         /* it maps far more memory than it uses: limit only what is resident */
    const volatile sig_atomic_t *interrupted; /* ends it when it becomes true; may be NULL */
};

enum host_end {
    HOST_ENDED,       /* by itself */
    HOST_TOO_SLOW,    /* too many seconds */
    HOST_TOO_BIG,     /* too much memory */
    HOST_TOO_LOUD,    /* its output file grew beyond 16 MiB */
    HOST_INTERRUPTED, /* by the caller's flag */
    HOST_NOT_STARTED
};

/* Runs it to its end, or kills it with all that it has started. It also ends when this process
 * does. It has a process group of its own and no input. *status is as from host_wait. */
enum host_end host_run_limited(const struct host_command *command, const struct host_limits *limits,
                               int *status);

#endif
