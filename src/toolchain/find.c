/*
 * find.c: where things are: our own libraries, programs on PATH, nvcc.
 */
#include "toolchain/find.h"
#include "base/arena.h"
#include "base/list.h"
#include "host/terminal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char toolchain_nvcc_advice[] =
    "it needs no GPU. Get it in one of these ways:\n"
    "  scripts/get-nvcc        NVIDIA's own packages from PyPI (nvidia-cuda-nvcc and four more), "
    "put\n"
    "                          together in your home folder; no root\n"
    "  NVIDIA's CUDA toolkit   in /usr/local/cuda, or anywhere with nvcc on PATH or in $NVCC\n"
    "and see 'lockstep doctor'.";

/* build/ has the libraries beside the program; an installed lockstep has ../lib/lockstep. */
const char *toolchain_library_folder(void)
{
    static char folder[PATH_MAX];
    char self[PATH_MAX], probe[PATH_MAX + 32];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return NULL;
    self[length] = 0;
    *strrchr(self, '/') = 0;
    static const char *const places[] = {"", "/../lib/lockstep"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char place[PATH_MAX + 32];
        snprintf(place, sizeof place, "%s%s", self, places[i]);
        if (!realpath(place, folder))
            continue;
        snprintf(probe, sizeof probe, "%s/libcuda.so.1", folder);
        if (access(probe, R_OK) == 0)
            return folder;
    }
    return NULL;
}

const char *toolchain_find_folder(struct lk_arena *arena, const char *variable, const char *built,
                                  const char *installed)
{
    const char *const places[] = {built, installed}, *asked = getenv(variable);
    char self[PATH_MAX], folder[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (asked && *asked)
        return asked;
    if (length <= 0)
        return NULL;
    self[length] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (realpath(lk_arena_printf(arena, "%s%s", self, places[i]), folder))
            return lk_arena_printf(arena, "%s", folder);
    return NULL;
}

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *toolchain_find_program(struct lk_arena *arena, const char *name)
{
    if (strchr(name, '/'))
        return is_program(name) ? lk_arena_strndup(arena, name, strlen(name)) : NULL;
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char *candidate =
            lk_arena_printf(arena, "%.*s/%s", length ? (int)length : 1, length ? path : ".", name);
        if (is_program(candidate))
            return candidate;
        path += length + (path[length] == ':');
    }
    return NULL;
}

char *toolchain_find_nvcc(struct lk_arena *arena)
{
    const char *chosen = getenv("NVCC");
    if (chosen && *chosen)
        return toolchain_find_program(arena, chosen);
    char *found = toolchain_find_program(arena, "nvcc");
    if (!found)
        found = toolchain_find_program(arena, "/usr/local/cuda/bin/nvcc");
    if (found)
        return found;
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data && *data)
        return toolchain_find_program(arena,
                                      lk_arena_printf(arena, "%s/lockstep/cuda/bin/nvcc", data));
    if (home && *home)
        return toolchain_find_program(
            arena, lk_arena_printf(arena, "%s/.local/share/lockstep/cuda/bin/nvcc", home));
    return NULL;
}
