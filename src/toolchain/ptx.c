/*
 * ptx.c: fills in the words of ptx_command.def; see ptx.h.
 */
#include "toolchain/ptx.h"

#include "base/buf.h"
#include "host/files.h"

#include <stdlib.h>
#include <string.h>

static const char *const nvcc_words[] = {
#define NVCC(word) word,
#define CLANG(word)
#define NVRTC(word)
#include "toolchain/ptx_command.def"
#undef NVCC
#undef CLANG
#undef NVRTC
    NULL};

static const char *const clang_words[] = {
#define NVCC(word)
#define CLANG(word) word,
#define NVRTC(word)
#include "toolchain/ptx_command.def"
#undef NVCC
#undef CLANG
#undef NVRTC
    NULL};

static const char *const nvrtc_words[] = {
#define NVCC(word)
#define CLANG(word)
#define NVRTC(word) word,
#include "toolchain/ptx_command.def"
#undef NVCC
#undef CLANG
#undef NVRTC
    NULL};

/* The word with {arch}, {include} and {toolkit} replaced. */
static const char *fill_in(struct lk_arena *arena, const char *word,
                           const struct toolchain_ptx *ptx)
{
    const struct {
        const char *mark, *value;
    } marks[] = {{"{arch}", ptx->arch},
                 {"{include}", ptx->include},
                 {"{toolkit}", ptx->compiler.headers ? ptx->compiler.headers : ptx->include}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(word, marks[i].mark);
        if (at)
            word = lk_arena_printf(arena, "%.*s%s%s", (int)(at - word), word, marks[i].value,
                                   at + strlen(marks[i].mark));
    }
    return word;
}

/* NVRTC is a library, which a process of ours opens. */
static void nvrtc_command(struct lk_arena *arena, const struct toolchain_ptx *ptx,
                          struct lk_list *command)
{
    const char *const first[] = {host_program(),     "learn",     "nvrtc-worker",
                                 ptx->compiler.path, ptx->source, ptx->output};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        lk_list_add(command, first[i]);
    for (const char *const *word = nvrtc_words; *word; word++)
        lk_list_add(command, fill_in(arena, *word, ptx));
}

void toolchain_ptx_command(struct lk_arena *arena, const struct toolchain_ptx *ptx,
                           struct lk_list *command)
{
    if (ptx->compiler.is_nvrtc) {
        nvrtc_command(arena, ptx, command);
        return;
    }
    if (!ptx->compiler.is_nvcc && strtol(ptx->arch, NULL, 10) >= 90) {
        lk_list_add(command, "/bin/sh");
        lk_list_add(command, lk_arena_printf(arena, "%s/clang_ptx.sh", ptx->include));
    }
    lk_list_add(command, ptx->compiler.path);
    for (const char *const *word = ptx->compiler.is_nvcc ? nvcc_words : clang_words; *word; word++)
        lk_list_add(command, fill_in(arena, *word, ptx));
    if (!ptx->compiler.is_nvcc)
        lk_list_add(command, "-fno-color-diagnostics"); /* what it prints goes to a file */
    lk_list_add(command, "-o");
    lk_list_add(command, ptx->output);
    lk_list_add(command, ptx->source);
}
