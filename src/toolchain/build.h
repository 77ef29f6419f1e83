/*
 * build.h: compiles a program with nvcc, unless the cache has it already.
 */
#ifndef LOCKSTEP_CLI_BUILD_H
#define LOCKSTEP_CLI_BUILD_H

#include "cli/cli.h"

struct build {
    struct cli_list *command;      /* nvcc and its words, without -o */
    const struct cli_list *inputs; /* the files among them */
    bool keep;                     /* intermediate files too */
    bool verbose;
};

struct built {
    const char *path; /* to execute */
    const char *name; /* "./prog" for prog.cu: what the program is to be called */
    bool cached;
};

/* False if it does not compile: nvcc has said why, or an error was said. */
bool build_program(struct lk_arena *arena, const struct build *build, struct built *built);

#endif
