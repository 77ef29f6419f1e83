/*
 * doctor.h: what is looked for on this machine, one finding each; for 'lockstep doctor' and
 * 'lockstep learn ready'.
 */
#ifndef LOCKSTEP_CLI_DOCTOR_H
#define LOCKSTEP_CLI_DOCTOR_H

#include "cli/cli.h"

#include <jansson.h>

struct doctor_finding {
    const char *name;
    const char *found; /* what and where; NULL if missing */
    bool needed;
    const char *use;
    const char *install;
};

struct doctor_finding doctor_find_nvcc(struct lk_arena *arena);
struct doctor_finding doctor_find_clang(struct lk_arena *arena);
struct doctor_finding doctor_find_python(struct lk_arena *arena);
struct doctor_finding doctor_find_gpu(struct lk_arena *arena);
/* Triton, Numba and others, in findings[DOCTOR_CLIENTS]; try_each: runs a program with each, which
 * takes seconds. */
enum { DOCTOR_CLIENTS = 7 };
void doctor_find_clients(struct lk_arena *arena, bool try_each, struct doctor_finding *findings);
/* The first line that has the word in what a program prints; NULL if none has or it fails. words is
 * its command line, ended by NULL. */
char *doctor_line_with(struct lk_arena *arena, const char *const *words, const char *word);

/* Is everything there that is needed? */
bool doctor_is_ready(const struct doctor_finding *findings, size_t count);
/* A line each, and the remedy where something is missing; needed ones are "needed by WHAT". */
void doctor_print(const struct doctor_finding *findings, size_t count, const char *what);
json_t *doctor_json(const struct doctor_finding *findings, size_t count);

#endif
