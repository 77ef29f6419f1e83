/*
 * ptxas.h: how many registers NVIDIA's assembler gives the kernels of a PTX text, where it is
 * installed.
 */
#ifndef LOCKSTEP_TOOLCHAIN_PTXAS_H
#define LOCKSTEP_TOOLCHAIN_PTXAS_H

#include "base/arena.h"

#include <stddef.h>

struct ptxas_kernel {
    const char *name; /* as in the PTX, mangled */
    unsigned registers, spill_bytes;
};

/* The kernels of the PTX text as ptxas assembles them for the architecture ("90a") with at most
 * this many registers a thread, in the arena. *count is 0 if there is no ptxas or it refuses the
 * text. What ptxas printed is kept in the cache by the text. */
const struct ptxas_kernel *ptxas_ask(struct lk_arena *arena, const char *text, const char *arch,
                                     unsigned most_registers, size_t *count);

#endif
