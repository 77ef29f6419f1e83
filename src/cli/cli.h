/*
 * cli.h: what the commands share: the table of commands, messages, lists of words.
 * A command is one file; its function gets the words after its name and returns the exit status.
 */
#ifndef LOCKSTEP_CLI_CLI_H
#define LOCKSTEP_CLI_CLI_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit statuses; run returns the program's own. */
enum cli_status { CLI_OK = 0, CLI_FINDINGS = 1, CLI_USAGE = 2, CLI_UNSUPPORTED = 3 };

struct cli_command {
    const char *name;
    const char *summary; /* one line */
    const char *help;    /* what --help prints */
    int (*run)(int count, char **words);
};

extern const struct cli_command cli_bench, cli_check, cli_doctor, cli_gpus, cli_learn, cli_profile,
    cli_roofline, cli_run, cli_studio, cli_tune, cli_zoo;

/* "lockstep: message" on stderr. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Escape sequences, or "" where stream is no terminal or NO_COLOR is set. */
enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_GREEN, CLI_RED, CLI_YELLOW };
const char *cli_style(FILE *stream, enum cli_style style);
struct report_paint cli_paint(FILE *stream); /* the same for src/report */

/* Options: each takes the word at *at and moves *at past what it used. */
bool cli_flag(char **words, int *at, const char *name);
/* "--name VALUE" or "--name=VALUE"; value is NULL, and an error was said, if it is missing. */
bool cli_option(int count, char **words, int *at, const char *name, const char **value);
/* A whole number that is all of text; false, with an error said, if it is not. */
bool cli_number(const char *name, const char *text, unsigned long long most,
                unsigned long long *number);

/* A growing list of words that ends with NULL once something was added. */
struct cli_list {
    const char **items;
    size_t count, capacity;
};
void cli_list_add(struct cli_list *list, const char *item);
void cli_list_free(struct cli_list *list);

/* Formatted text that lives as long as the arena. */

/* Files that belong to lockstep; both print nothing and return NULL if not found. */
const char *cli_library_folder(void); /* has libcuda.so.1 and libcudart.so.*; static storage */
/* $VARIABLE, or the first of two places beside the program's folder: as built, as installed. */
const char *cli_find_folder(struct lk_arena *arena, const char *variable, const char *built,
                            const char *installed);
char *cli_find_program(struct lk_arena *arena, const char *name); /* on PATH */
char *cli_find_nvcc(struct lk_arena *arena); /* $NVCC, PATH, /usr/local/cuda, scripts/get-nvcc's */
extern const char cli_nvcc_advice[];         /* how to get one */

#endif
