/*
 * nvcc_words.h: nvcc's command line as a user writes it, taken apart as far as a program that runs
 * on another GPU must know it, and put together again for that GPU.
 */
#ifndef LOCKSTEP_TOOLCHAIN_NVCC_WORDS_H
#define LOCKSTEP_TOOLCHAIN_NVCC_WORDS_H

#include "base/arena.h"
#include "base/list.h"

#include <stdbool.h>

/* Strings are the user's words or live in an arena. */
struct nvcc_words {
    struct lk_list words;        /* in their order, without the next two */
    struct lk_list arch_words;   /* -arch, -gencode, -code */
    struct lk_list cudart_words; /* -cudart and -dlto */
    struct lk_list archs;        /* what arch_words name: "80", "90a" */
    struct lk_list inputs;       /* of words: the source, object and library files */
    bool device_debug;           /* -G */
};

void nvcc_add_input(struct nvcc_words *nvcc, const char *path);
/* The option at *at, with its value if it has one; *at moves past them. False and a malloc'd
 * message if it makes something else than a program, or its value is missing. */
bool nvcc_add_option(struct lk_arena *arena, struct nvcc_words *nvcc, int count, char **words,
                     int *at, char **message);
void nvcc_words_free(struct nvcc_words *nvcc);

/* -maxrregcount N among the words, in any of its forms; 255, which is no limit, without. */
unsigned nvcc_most_registers(const struct lk_list *words);

/* The compiler and its words, all but -o. arch: "90", of the GPU that it will run on. simulated:
 * PTX only, and the shared runtime, which ours replaces. */
void nvcc_command(struct lk_arena *arena, const struct nvcc_words *nvcc, const char *compiler,
                  const char *arch, bool simulated, struct lk_list *command);

#endif
