/*
 * ptx.h: the one command line that makes PTX of a .cu file, with nvcc, clang or NVRTC. Its words
 * are in ptx_command.def, which the Makefile reads too.
 */
#ifndef LOCKSTEP_TOOLCHAIN_PTX_H
#define LOCKSTEP_TOOLCHAIN_PTX_H

#include "base/list.h"
#include "toolchain/find.h"

struct toolchain_ptx {
    struct toolchain_compiler compiler;
    const char *arch;    /* "80", "90a" */
    const char *include; /* a folder with the headers of kernels/include */
    const char *source, *output;
};

/* Appends the command's words; those made here live in the arena. */
void toolchain_ptx_command(struct lk_arena *arena, const struct toolchain_ptx *ptx,
                           struct lk_list *command);

#endif
