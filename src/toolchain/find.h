/*
 * find.h: where compilers and our own files are: one order of places for everyone.
 */
#ifndef LOCKSTEP_TOOLCHAIN_FIND_H
#define LOCKSTEP_TOOLCHAIN_FIND_H

#include "base/arena.h"

#include <stdbool.h>

/* Files that belong to lockstep; both print nothing and return NULL if not found. */
const char *
toolchain_library_folder(void); /* has libcuda.so.1 and libcudart.so.*; static storage */
/* $VARIABLE, or the first of two places beside the program's folder: as built, as installed. */
const char *toolchain_find_folder(struct lk_arena *arena, const char *variable, const char *built,
                                  const char *installed);
char *toolchain_find_program(struct lk_arena *arena, const char *name); /* on PATH */
char *
toolchain_find_nvcc(struct lk_arena *arena); /* $NVCC, PATH, /usr/local/cuda, scripts/get-nvcc's */
extern const char toolchain_nvcc_advice[];   /* how to get one */

#endif
