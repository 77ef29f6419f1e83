/*
 * random_program.h: the text of a random PTX program, for random_ptx.c.
 */
#ifndef LOCKSTEP_TESTS_RANDOM_PROGRAM_H
#define LOCKSTEP_TESTS_RANDOM_PROGRAM_H

#include <stdint.h>

/* How a program is launched. */
#define BLOCK 96
#define GRID 4
#define CELLS 12 /* words at the front of the output, for atomics */
#define INPUT_WORDS 256

/* A module with one kernel, the same for the same seed; free() it. */
char *make_program(uint64_t seed);

#endif
