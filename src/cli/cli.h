/*
 * cli.h: what the commands share: the table of commands, messages, lists of words.
 * A command is one file; its function gets the words after its name and returns the exit status.
 */
#ifndef LOCKSTEP_CLI_CLI_H
#define LOCKSTEP_CLI_CLI_H

#include "base/arena.h"
#include "base/list.h"
#include "host/terminal.h"
#include "toolchain/find.h"

#include <jansson.h>
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

struct report_paint cli_paint(FILE *stream); /* host_style for src/report */
void cli_print_json(json_t *object);         /* on stdout; takes it */
/* Writes a file with results; false after printing an error. */
bool cli_write_file(const char *path, const char *text, size_t size);

/* A progress bar on stderr, where that is a terminal; what NULL: removes it. As the progress of
 * src/bench and src/tune. */
void cli_progress(void *context, const char *what, double fraction);

/* FAMILY or FAMILY/VARIANT; false after printing an error, with a suggestion. */
struct zoo_family;
struct zoo_variant;
bool cli_find_family(const char *name, const struct zoo_family **family,
                     const struct zoo_variant **variant);

/* Options: each takes the word at *at and moves *at past what it used. */
bool cli_flag(char **words, int *at, const char *name);
/* "--name VALUE" or "--name=VALUE"; value is NULL, after printing an error, if it is missing. */
bool cli_option(int count, char **words, int *at, const char *name, const char **value);
/* A whole number in a range that is all of text; false after printing an error if it is not. */
bool cli_number(const char *name, const char *text, unsigned long long least,
                unsigned long long most, unsigned long long *number);

#endif
