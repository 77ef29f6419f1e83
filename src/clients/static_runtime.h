/*
 * static_runtime.h: programs and packages that have NVIDIA's CUDA runtime linked into them.
 */
#ifndef LOCKSTEP_CLIENTS_STATIC_RUNTIME_H
#define LOCKSTEP_CLIENTS_STATIC_RUNTIME_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* Sends the runtime's functions inside a loaded object to our libcudart in `folder` (which ends in
 * a slash). Call it before the object's constructors run; objects without a runtime stay as they
 * are. `file` is what was mapped at `base`. */
void static_runtime_redirect(const char *file, uintptr_t base, const char *folder);

/* Sends the functions that begin to use one of NVIDIA's libraries, whose kernels are machine code,
 * to a line that says so and an error (machine_code.c). */
void machine_code_stop(const char *file, uintptr_t base);

/* What both need: an object's symbols, and jumps written over its functions. */
struct image {
    const char *data;
    size_t size;
    const Elf64_Sym *symbols;
    size_t count;
    const char *names;
    size_t names_size;
};
/* Maps a file and finds its symbols; 0 if it has none. Call close_image in either case. */
int open_image(const char *path, unsigned kind, struct image *image);
void close_image(struct image *image);

enum { JUMP_SIZE = 14 };
/* "jmp *target", with the address behind it. */
void put_jump(unsigned char *at, const void *target);
int set_access(uintptr_t from, uintptr_t to, int access); /* PROT_...; 0 if it could be set */

#endif
