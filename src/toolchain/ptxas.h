/*
 * ptxas.h: how many registers NVIDIA's assembler gives a kernel of a PTX text, where it is
 * installed.
 */
#ifndef LOCKSTEP_TOOLCHAIN_PTXAS_H
#define LOCKSTEP_TOOLCHAIN_PTXAS_H

#include "base/arena.h"

#include <stdbool.h>

struct ptxas_answer {
    unsigned registers, spill_bytes;
};

/* How ptxas assembles the kernel of this name (as in the PTX text, mangled) for the architecture
 * ("90a") with at most this many registers a thread (0: as many as it finds best; to name the most
 * that there can be is not the same, for then it unrolls and hoists until they are used up). False
 * if there is no ptxas or it refuses the text. Only this kernel is assembled: a file may hold
 * dozens, which take many seconds. What ptxas printed is kept in the cache by the text and the
 * name. */
bool ptxas_ask(struct lk_arena *arena, const char *text, const char *kernel, const char *arch,
               unsigned most_registers, struct ptxas_answer *answer);

#endif
