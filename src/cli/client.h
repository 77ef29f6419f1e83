/*
 * client.h: programs that bring their kernels while they run: Python scripts and modules, and
 * whatever else is found on PATH, as in 'lockstep run script.py', 'lockstep run -m pytest' and
 * 'lockstep run jupyter lab'. Their own words follow without a "--".
 */
#ifndef LOCKSTEP_CLI_CLIENT_H
#define LOCKSTEP_CLI_CLIENT_H

#include "cli/start.h"

/* Where such a command begins among the words after run, profile or check: at its "-m", its script
 * or its program, before which only our own options stand. count if there is none: the words then
 * name sources, a program or a family. */
int client_at(int count, char **words);
/* Puts a "--" before the arguments of a program that is named by its path: they begin at the first
 * word after it that is not one of our options. */
void client_part_arguments(struct lk_arena *arena, int *count, char ***words);
/* words: from client_at on. Sets what is to be started; false after printing an error. */
bool client_find(struct lk_arena *arena, int count, char **words, struct start *start);
/* The Python that runs scripts without one of their own; NULL if there is none. */
char *client_python(struct lk_arena *arena);
/* python/clients: what a client's Python imports at its start, and a program to try each with. NULL
 * if it is not found. */
const char *client_hooks_folder(struct lk_arena *arena);
/* Puts our libraries and tools in front, for a simulated GPU; false after printing an error. */
bool client_put_environment(struct lk_arena *arena, const char *folder);

#endif
