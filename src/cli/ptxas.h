/*
 * ptxas.h: the registers that NVIDIA's assembler gives a kernel, where it is installed.
 */
#ifndef LOCKSTEP_CLI_PTXAS_H
#define LOCKSTEP_CLI_PTXAS_H

#include "cli/cli.h"
#include "report/profile.h"

/* Sets registers and spill_bytes of the profile's kernels whose PTX is in folder, where there is a
 * ptxas and it takes them; the others keep the machine's estimate. What ptxas said is kept in the
 * cache by the PTX's content. words: the command's, with nvcc's -maxrregcount if it is there. */
void ptxas_registers(struct lk_arena *arena, const char *folder, const struct lk_list *words,
                     struct profile *profile);

#endif
