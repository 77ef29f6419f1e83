/*
 * request.h: what the words after 'lockstep run' ask for: our options, nvcc's words, the program's.
 */
#ifndef LOCKSTEP_CLI_REQUEST_H
#define LOCKSTEP_CLI_REQUEST_H

#include "cli/cli.h"
#include "cli/target.h"

struct request {
    const char *gpu, *threads, *schedule, *limit; /* as given and checked; NULL if not */
    bool keep, verbose;
    const char *program;         /* already built; NULL if there is something to compile */
    struct lk_list words;        /* nvcc's, in their order, without the next two */
    struct lk_list arch_words;   /* -arch, -gencode, -code */
    struct lk_list cudart_words; /* -cudart and -dlto */
    struct lk_list archs;        /* what arch_words name: "80", "90a" */
    struct lk_list inputs;       /* of words: the source, object and library files */
    bool device_debug;           /* -G */
    char **arguments;            /* the program's, NULL at the end */
};

/* Strings are parts of words or live in the arena. False after printing an error. */
bool request_parse(struct lk_arena *arena, int count, char **words, struct request *request);
void request_free(struct request *request);

/* nvcc and its words, all but -o, for the GPU asked for. */
void request_command(struct lk_arena *arena, const struct request *request, const char *nvcc,
                     const struct target *target, struct lk_list *command);

#endif
