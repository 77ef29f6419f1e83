/*
 * request.h: what the words after 'lockstep run' ask for: our options, nvcc's words, the program's.
 */
#ifndef LOCKSTEP_CLI_REQUEST_H
#define LOCKSTEP_CLI_REQUEST_H

#include "cli/cli.h"
#include "toolchain/nvcc_words.h"

struct request {
    const char *gpu, *threads, *schedule, *limit; /* as given and checked; NULL if not */
    bool keep, verbose, poison;
    const char *program; /* already built; NULL if there is something to compile */
    struct nvcc_words nvcc;
    char **arguments; /* the program's, NULL at the end */
};

/* command: for what is printed, as in "run". Strings are parts of words or live in the arena. False
 * after printing an error. */
bool request_parse(struct lk_arena *arena, const char *command, int count, char **words,
                   struct request *request);
/* Only our own options, which stand before a client; see client.h. */
bool request_parse_options(const char *command, int count, char **words, struct request *request);
/* Is it a value of --threads, --limit or --schedule? False after printing an error. */
bool request_check_setting(const char *option, const char *value);
/* Is there such a file, and nothing that nvcc takes? */
bool request_is_program(const char *path);
void request_free(struct request *request);

#endif
