/*
 * start.h: a CUDA program, ready to run on the GPU asked for.
 */
#ifndef LOCKSTEP_CLI_START_H
#define LOCKSTEP_CLI_START_H

#include "cli/cli.h"
#include "gpu/gpu.h"

/* What --poison fills fresh memory with: NaN in every format of floats, -1 as an integer. */
#define START_POISON "0xff"

struct start {
    const char *only_simulated; /* set by the caller: the command's name, if it cannot use a GPU */
    const char *family_verb;    /* set by the caller, if it takes a family: what 'zoo' is to do */
    const char *path, *name;    /* the program, and what it is called with */
    const char *title;          /* for reports, where that is not its name; may be NULL */
    char **arguments;
    const struct gpu_info *gpu; /* NULL: a real one */
};

/* words: what follows the command, as for 'run'. False after printing an error. The environment of
 * this process is set for the program. */
bool start_prepare(struct lk_arena *arena, int count, char **words, struct start *start);
/* The same for words that name a family, as in "reduction/vectorised n=1M". */
bool start_is_family(int count, char **words);
bool start_prepare_family(struct lk_arena *arena, int count, char **words, struct start *start);
void start_put(const char *name, const char *value); /* an environment variable */
void start_put_first(struct lk_arena *arena, const char *name, const char *value); /* of a list */
int start_become(const struct start *start); /* does not return if all is well */
/* Its exit status; 128 + a signal's number. aside: what it prints goes to stderr, as stdout is for
 * results. */
int start_wait(const struct start *start, bool aside);

#endif
