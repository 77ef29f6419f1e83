/*
 * build_inputs.h: which files a build reads, for the cache. nvcc lists them as it compiles a single
 * source (-MD). That forgets all but the last of several: for these, a second nvcc makes the list
 * meanwhile. Headers of the toolkit and of the system are not in the list: the size and date of
 * nvcc stand for them.
 */
#ifndef LOCKSTEP_TOOLCHAIN_BUILD_INPUTS_H
#define LOCKSTEP_TOOLCHAIN_BUILD_INPUTS_H

#include "toolchain/build.h"

#include <sys/types.h>
#include <time.h>

/* Can the nvcc that compiles make the list? */
bool build_has_one_source(const struct build *build);
/* Starts nvcc -M, which lists what the sources include in the file path; wait for it. */
pid_t build_list_inputs(const struct build *build, const char *path);
/* Adds all files that the build has read, from that list; false if they are not known. */
bool build_read_inputs(struct lk_arena *arena, const struct build *build, const char *path,
                       struct lk_list *files);
/* Has a file changed since then? What was edited while nvcc ran may not be what nvcc read. */
bool build_changed_since(const struct lk_list *files, struct timespec start);

#endif
