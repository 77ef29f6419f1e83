/*
 * registers.h: the registers of a profile's kernels as NVIDIA's assembler assigns them.
 */
#ifndef LOCKSTEP_CLI_REGISTERS_H
#define LOCKSTEP_CLI_REGISTERS_H

#include "cli/cli.h"
#include "report/profile.h"

/* Sets registers and spill_bytes of the profile's kernels whose PTX is in folder, where there is a
 * ptxas and it takes them; the others keep the machine's estimate. words: the command's, with
 * nvcc's -maxrregcount if it is there. */
void registers_from_ptxas(struct lk_arena *arena, const char *folder, const struct lk_list *words,
                          struct profile *profile);

#endif
