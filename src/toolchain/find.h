/*
 * find.h: where compilers and our own files are. Everyone looks in this one order, and
 * 'lockstep doctor' prints what it finds:
 *
 *   nvcc     $NVCC; PATH; /usr/local/cuda/bin; where scripts/get-nvcc puts it, which is
 *            ${XDG_DATA_HOME:-~/.local/share}/lockstep/cuda/bin
 *   clang    $CLANG; on PATH clang-19 (the one that is tested most), then clang-21, 20, 18, 17, 16,
 *            and clang itself if it is 16 or newer
 *   ptxas    beside nvcc; in its toolkit's bin; PATH
 *   NVRTC    $NVRTC; in nvcc's toolkit; where the dynamic loader finds it; in a wheel of PyPI, of
 * the active virtual environment, then of the user's and the system's Python
 *
 * A variable that is set decides alone: if it names no program, there is none. The Makefile and the
 * scripts use scripts/get-nvcc --find and scripts/find-clang, which look in the same order.
 */
#ifndef LOCKSTEP_TOOLCHAIN_FIND_H
#define LOCKSTEP_TOOLCHAIN_FIND_H

#include "base/arena.h"

#include <stdbool.h>

/* Paths of programs and of a library; NULL if there is none. */
char *toolchain_find_nvcc(struct lk_arena *arena);
char *toolchain_find_clang(struct lk_arena *arena);
char *toolchain_find_ptxas(struct lk_arena *arena);
char *toolchain_find_nvrtc(struct lk_arena *arena);
extern const char toolchain_nvcc_advice[]; /* how to get nvcc */

/* The folder of the CUDA toolkit that nvcc belongs to, as nvcc itself reports it, without links or
 * a slash at its end. Headers in it are NVIDIA's, not the user's. NULL without nvcc, so also where
 * only clang is. nvcc is asked once per process, which takes some 30 ms. Static storage. */
const char *toolchain_toolkit_folder(void);

struct toolchain_compiler {
    const char *path; /* NULL: there is none */
    bool is_nvcc;
    bool is_nvrtc;       /* path is a library's */
    const char *headers; /* NVRTC: the folder of NVIDIA's headers; NULL if there is none */
};
/* A compiler that makes PTX: what is asked for, "nvcc", "clang" or "nvrtc"; if asked is NULL, the
 * preferred one of the first two, or else the other. */
struct toolchain_compiler toolchain_find_compiler(struct lk_arena *arena, const char *asked,
                                                  const char *preferred);

/* Files that belong to lockstep. The folder with libcuda.so.1 and libcudart.so.*, in static
 * storage; NULL if it is not found. */
const char *toolchain_library_folder(void);
/* $VARIABLE, or the first of two places beside the program's folder: as built, as installed. */
const char *toolchain_find_folder(struct lk_arena *arena, const char *variable, const char *built,
                                  const char *installed);

#endif
