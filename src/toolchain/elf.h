/*
 * elf.h: what is in an ELF file: whether it is a program, which libraries it loads, whether it
 * contains CUDA code.
 */
#ifndef LOCKSTEP_TOOLCHAIN_ELF_H
#define LOCKSTEP_TOOLCHAIN_ELF_H

#include "base/arena.h"
#include "base/list.h"

#include <stdbool.h>

enum elf_kind {
    ELF_UNREADABLE, /* errno says why */
    ELF_NOT,        /* a file of another kind */
    ELF_BROKEN,     /* begins as one, but its tables lead out of the file */
    ELF_OTHER,      /* an object file, a core, or for another machine */
    ELF_PROGRAM     /* a program or shared library for this machine */
};

struct elf_facts {
    enum elf_kind kind;
    bool fatbin;           /* kernels are embedded */
    bool symbols;          /* has a symbol table: it was not stripped */
    bool interpreter;      /* loads shared libraries when it starts */
    struct lk_list needed; /* libraries that it loads */
    const char *rpath;     /* DT_RPATH, which goes before LD_LIBRARY_PATH; NULL if none */
};

/* The strings live as long as the arena; call elf_free for the list. */
struct elf_facts elf_read(struct lk_arena *arena, const char *path);
struct elf_facts elf_read_bytes(struct lk_arena *arena, const void *data, size_t size);
void elf_free(struct elf_facts *facts);

#endif
