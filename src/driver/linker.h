/*
 * linker.h: PTX from texts, fat binaries, object files and libraries, put together. What comes out
 * stands for a cubin: cuModuleLoadData takes it, nothing else does. cuLink and the drop-in for
 * nvJitLink (src/clients/nvjitlink.c, which finds these in libcuda.so.1) are built on it.
 */
#ifndef LOCKSTEP_DRIVER_LINKER_H
#define LOCKSTEP_DRIVER_LINKER_H

#include <stdbool.h>
#include <stddef.h>

struct lk_linker;

/* What an input was. */
enum lk_linker_result {
    LK_LINKER_OK,
    LK_LINKER_NOT_PTX, /* machine code, or PTX for other GPUs only */
    LK_LINKER_BROKEN   /* of no kind that is known, or damaged */
};

/* For GPUs of this compute capability. */
struct lk_linker *lk_linker_create(unsigned cc_major, unsigned cc_minor);
/* PTX text, a fat binary, an object file or library of nvcc's, or an earlier link's output. On
 * failure *message (malloc'd) says what is wrong. */
enum lk_linker_result lk_linker_add(struct lk_linker *linker, const void *data, size_t size,
                                    const char *name, char **message);
/* The image, which lives as long as the linker; NULL with *message if the PTX is not valid or
 * nothing was added. max_registers: 0 for no limit. */
const void *lk_linker_finish(struct lk_linker *linker, unsigned max_registers, size_t *size,
                             char **message);
void lk_linker_free(struct lk_linker *linker);

#endif
