/*
 * nvcc_names.h: names that nvcc must not be given.
 */
#ifndef LOCKSTEP_TOOLCHAIN_NVCC_NAMES_H
#define LOCKSTEP_TOOLCHAIN_NVCC_NAMES_H

#include "base/list.h"

#include <stdbool.h>

/* nvcc runs its tools through a shell, with names between double quotes: what a shell expands there
 * would be run. False with a malloc'd message if a name in the command has such a character, or
 * the folder that it runs in (NULL: the current one), or TMPDIR. */
bool nvcc_names_are_plain(const struct lk_list *command, const char *folder, char **message);

#endif
