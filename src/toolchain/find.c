/*
 * find.c: where compilers and our own files are; see find.h.
 */
#include "toolchain/find.h"

#include "base/buf.h"
#include "host/child.h"
#include "host/files.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char toolchain_nvcc_advice[] =
    "it needs no GPU. Get it in one of these ways:\n"
    "  scripts/get-nvcc        NVIDIA's own packages from PyPI (nvidia-cuda-nvcc and others), "
    "put\n"
    "                          together in your home folder; no root\n"
    "  NVIDIA's CUDA toolkit   in /usr/local/cuda, or anywhere with nvcc on PATH or in $NVCC\n"
    "and see 'lockstep doctor'.";

/* Programs --------------------------------------------------------------------------------------*/

/* What the variable names; *decided says whether it is set. */
static char *chosen_by(struct lk_arena *arena, const char *variable, bool *decided)
{
    const char *name = getenv(variable);
    *decided = name && *name;
    return *decided ? host_find_program(arena, name) : NULL;
}

char *toolchain_find_nvcc(struct lk_arena *arena)
{
    bool decided;
    char *found = chosen_by(arena, "NVCC", &decided);
    if (decided)
        return found;
    found = host_find_program(arena, "nvcc");
    if (!found)
        found = host_find_program(arena, "/usr/local/cuda/bin/nvcc");
    char *installed = found ? NULL : host_data_path("cuda/bin/nvcc");
    if (installed)
        found = host_find_program(arena, installed);
    free(installed);
    return found;
}

/* The number after "version "; 0 if it prints none. */
static unsigned long clang_version(const char *path)
{
    const char *const words[] = {path, "--version", NULL};
    struct lk_buf text = {0};
    host_capture(&(struct host_command){.words = words, .errors = "/dev/null"}, &text);
    const char *number = text.data ? strstr(text.data, "version ") : NULL;
    unsigned long version = number ? strtoul(number + strlen("version "), NULL, 10) : 0;
    lk_buf_free(&text);
    return version;
}

char *toolchain_find_clang(struct lk_arena *arena)
{
    static const char *const names[] = {"clang-19", "clang-21", "clang-20",
                                        "clang-18", "clang-17", "clang-16"};
    bool decided;
    char *found = chosen_by(arena, "CLANG", &decided);
    if (decided)
        return found;
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = host_find_program(arena, names[i]);
    if (found)
        return found;
    found = host_find_program(arena, "clang");
    return found && clang_version(found) >= 16 ? found : NULL;
}

/* The toolkit's; or those beside the library, where wheels have them. */
static const char *nvrtc_headers(struct lk_arena *arena, const char *library)
{
    const char *top = toolchain_toolkit_folder();
    const char *beside = lk_arena_printf(arena, "%.*s../include",
                                         (int)(strrchr(library, '/') + 1 - library), library);
    const char *const folders[] = {top ? lk_arena_printf(arena, "%s/include", top) : beside,
                                   beside};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (access(lk_arena_printf(arena, "%s/cuda_fp16.h", folders[i]), R_OK) == 0)
            return folders[i];
    return NULL;
}

struct toolchain_compiler toolchain_find_compiler(struct lk_arena *arena, const char *asked,
                                                  const char *preferred)
{
    const char *first = asked ? asked : preferred;
    bool nvcc_first = strcmp(first, "nvcc") == 0;
    struct toolchain_compiler found = {0};
    if (strcmp(first, "nvrtc") == 0) {
        found.is_nvrtc = true;
        found.path = toolchain_find_nvrtc(arena);
        found.headers = found.path ? nvrtc_headers(arena, found.path) : NULL;
        return found;
    }
    for (int i = 0; i < (asked ? 1 : 2) && !found.path; i++) {
        found.is_nvcc = nvcc_first == (i == 0);
        found.path = found.is_nvcc ? toolchain_find_nvcc(arena) : toolchain_find_clang(arena);
    }
    return found;
}

/* The toolkit -----------------------------------------------------------------------------------*/

static char toolkit[PATH_MAX];

/* nvcc --dryrun prints its settings, among them "#$ TOP=FOLDER", and compiles nothing. */
static bool ask_nvcc(const char *nvcc)
{
    static const char mark[] = "#$ TOP=";
    const char *const words[] = {nvcc, "--dryrun", "-x", "cu", "/dev/null", NULL};
    struct lk_buf text = {0};
    host_capture(&(struct host_command){.words = words, .input = "/dev/null", .joined = true},
                 &text);
    char *top = text.data ? strstr(text.data, mark) : NULL;
    if (top) {
        top += strlen(mark);
        top[strcspn(top, "\r\n")] = 0;
    }
    bool found = top && realpath(top, toolkit);
    lk_buf_free(&text);
    return found;
}

static void find_toolkit(void)
{
    struct lk_arena *arena = lk_arena_create();
    char *nvcc = toolchain_find_nvcc(arena);
    if (!nvcc || !ask_nvcc(nvcc))
        toolkit[0] = 0; /* realpath may have left part of a path */
    lk_arena_destroy(arena);
}

const char *toolchain_toolkit_folder(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_toolkit);
    return toolkit[0] ? toolkit : NULL;
}

char *toolchain_find_ptxas(struct lk_arena *arena)
{
    char *found = NULL, *nvcc = toolchain_find_nvcc(arena),
         *slash = nvcc ? strrchr(nvcc, '/') : NULL;
    if (slash)
        found = host_find_program(arena,
                                  lk_arena_printf(arena, "%.*s/ptxas", (int)(slash - nvcc), nvcc));
    if (nvcc && !found && toolchain_toolkit_folder())
        found = host_find_program(arena, lk_arena_printf(arena, "%s/bin/ptxas", toolkit));
    return found ? found : host_find_program(arena, "ptxas");
}

/* Where the dynamic loader finds a library; NULL if nowhere. */
static char *loaded_from(struct lk_arena *arena, const char *name)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    struct link_map *map = NULL;
    char *path = NULL;
    if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        path = lk_arena_printf(arena, "%s", map->l_name);
    if (library)
        dlclose(library);
    return path;
}

/* "nvidia-cuda-nvrtc" of PyPI; NULL if no Python has it. */
static char *nvrtc_wheel(struct lk_arena *arena)
{
    static const char *const places[] = {"cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.13",
                                         "cuda_nvrtc/lib/libnvrtc.so.12"};
    const char *own = getenv("VIRTUAL_ENV"), *home = getenv("HOME");
    const char *const pythons[] = {
        own ? lk_arena_printf(arena, "%s/lib/python3*/site-packages", own) : NULL,
        home ? lk_arena_printf(arena, "%s/.local/lib/python3*/site-packages", home) : NULL,
        "/usr/local/lib/python3*/dist-packages"};
    char *found = NULL;
    for (size_t i = 0; i < sizeof pythons / sizeof *pythons; i++)
        for (size_t j = 0; pythons[i] && !found && j < sizeof places / sizeof *places; j++) {
            glob_t matches = {0};
            if (glob(lk_arena_printf(arena, "%s/nvidia/%s", pythons[i], places[j]), 0, NULL,
                     &matches) == 0)
                found = lk_arena_printf(arena, "%s", matches.gl_pathv[0]);
            globfree(&matches);
        }
    return found;
}

char *toolchain_find_nvrtc(struct lk_arena *arena)
{
    const char *chosen = getenv("NVRTC");
    if (chosen && *chosen)
        return access(chosen, R_OK) == 0 ? lk_arena_printf(arena, "%s", chosen) : NULL;
    static const char *const folders[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                          "targets/sbsa-linux/lib"};
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    const char *top = toolchain_toolkit_folder();
    for (size_t i = 0; top && i < sizeof folders / sizeof *folders; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            char *path = lk_arena_printf(arena, "%s/%s/%s", top, folders[i], names[j]);
            if (access(path, R_OK) == 0)
                return path;
        }
    char *found = NULL;
    for (size_t j = 0; !found && j < sizeof names / sizeof *names; j++)
        found = loaded_from(arena, names[j]);
    return found ? found : nvrtc_wheel(arena);
}

/* Our own files ---------------------------------------------------------------------------------*/

/* build/ has the libraries beside the program; an installed lockstep has ../lib/lockstep. */
const char *toolchain_library_folder(void)
{
    static const char *const places[] = {"", "/../lib/lockstep"};
    static char folder[PATH_MAX];
    const char *result = NULL;
    struct lk_arena *arena = lk_arena_create();
    for (size_t i = 0; !result && i < sizeof places / sizeof places[0]; i++)
        if (realpath(lk_arena_printf(arena, "%s%s", host_program_folder(), places[i]), folder) &&
            access(lk_arena_printf(arena, "%s/libcuda.so.1", folder), R_OK) == 0)
            result = folder;
    lk_arena_destroy(arena);
    return result;
}

const char *toolchain_find_folder(struct lk_arena *arena, const char *variable, const char *built,
                                  const char *installed)
{
    const char *const places[] = {built, installed}, *asked = getenv(variable);
    char folder[PATH_MAX];
    if (asked && *asked)
        return asked;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (realpath(lk_arena_printf(arena, "%s%s", host_program_folder(), places[i]), folder))
            return lk_arena_printf(arena, "%s", folder);
    return NULL;
}
