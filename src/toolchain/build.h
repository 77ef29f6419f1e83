/*
 * build.h: compiles a program with nvcc, unless the cache has it already.
 */
#ifndef LOCKSTEP_TOOLCHAIN_BUILD_H
#define LOCKSTEP_TOOLCHAIN_BUILD_H

#include "base/arena.h"
#include "base/list.h"

#include <stdbool.h>

struct build {
    struct lk_list *command;      /* nvcc and its words, without -o */
    const struct lk_list *inputs; /* the files among them */
    bool keep;                    /* intermediate files too */
    bool verbose;
};

struct built {
    const char *path; /* to execute */
    const char *name; /* "./prog" for prog.cu: what reports call it */
    bool cached;
};

/* An input that nvcc compiles, not one that it only links. */
bool build_is_source(const char *path);
/* False if it does not compile, after nvcc or we have printed why. */
bool build_program(struct lk_arena *arena, const struct build *build, struct built *built);

#endif
