/*
 * build.c: nvcc and the cache together; see build.h. build_inputs.c finds out which files nvcc
 * reads.
 */
#include "toolchain/build.h"

#include "base/buf.h"
#include "base/hash.h"
#include "host/child.h"
#include "host/files.h"
#include "host/terminal.h"
#include "toolchain/build_inputs.h"
#include "toolchain/cache.h"
#include "toolchain/nvcc_names.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_FORMAT "lockstep run 2"

bool build_is_source(const char *path)
{
    static const char *const endings[] = {".cu", ".c", ".cc", ".cpp", ".cxx", ".C"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static void print_command(const struct lk_list *command)
{
    for (size_t i = 0; i < command->count; i++)
        fprintf(stderr, "%s%s", i ? " " : "+ ", command->items[i]);
    fputc('\n', stderr);
}

/* The key ---------------------------------------------------------------------------------------*/

static struct lk_hash128 build_key(const struct build *build)
{
    static const char *const variables[] = {
        "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",  "NVCC_CCBIN",  "CPATH",
        "C_INCLUDE_PATH",     "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"};
    struct lk_hash128 key = lk_hash128_start();
    struct stat nvcc = {0};
    char folder[PATH_MAX] = "";
    lk_hash128_add_text(&key, CACHE_FORMAT);
    (void)stat(build->command->items[0], &nvcc);
    lk_hash128_add(&key, &nvcc.st_size, sizeof nvcc.st_size);
    lk_hash128_add(&key, &nvcc.st_mtim, sizeof nvcc.st_mtim);
    lk_hash128_add_text(&key, getcwd(folder, sizeof folder) ? folder : "");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        lk_hash128_add_text(&key, value ? value : "");
    }
    for (size_t i = 0; i < build->command->count; i++)
        lk_hash128_add_text(&key, build->command->items[i]);
    lk_hash128_add_text(&key, build->keep ? "keep" : "");
    return key;
}

/* Compiling
 * --------------------------------------------------------------------------------------*/

static char *program_name(struct lk_arena *arena, const struct lk_list *inputs)
{
    const char *path = inputs->items[0];
    for (size_t i = 0; i < inputs->count; i++) {
        if (build_is_source(inputs->items[i])) {
            path = inputs->items[i];
            break;
        }
    }
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot > name ? lk_arena_strndup(arena, name, (size_t)(dot - name))
                      : lk_arena_strndup(arena, "a.out", 5);
}

/* Runs nvcc with its results in folder, and its list of what it reads in rules, if that is not
 * NULL. What it prints goes to stderr: stdout is the program's. */
static bool compile(struct lk_arena *arena, const struct build *build, const char *folder,
                    const char *name, const char *rules)
{
    struct lk_list command = {0};
    for (size_t i = 0; i < build->command->count; i++)
        lk_list_add(&command, build->command->items[i]);
    if (build->keep) {
        char *keep = lk_arena_printf(arena, "%s/keep", folder);
        (void)host_make_folder(keep, NULL); /* nvcc reports it if it is missing */
        lk_list_add(&command, "--keep");
        lk_list_add(&command, "--keep-dir");
        lk_list_add(&command, keep);
    }
    if (rules) {
        lk_list_add(&command, "-MD");
        lk_list_add(&command, "-MF");
        lk_list_add(&command, rules);
    }
    lk_list_add(&command, "-o");
    lk_list_add(&command, lk_arena_printf(arena, "%s/%s", folder, name));
    if (build->verbose)
        print_command(&command);
    int status =
        host_run(&(struct host_command){.words = command.items, .output_fd = STDERR_FILENO});
    if (status >= 127)
        host_error("%s %s", command.items[0],
                   status == 127 ? "did not start" : "was killed by a signal");
    lk_list_free(&command);
    return status == 0;
}

/* Without a cache the program lives only as long as it runs: it is opened, then removed. */
static const char *open_and_remove(struct lk_arena *arena, const char *folder, const char *name)
{
    int fd = open(lk_arena_printf(arena, "%s/%s", folder, name), O_RDONLY);
    host_remove_tree(folder);
    return fd < 0 ? NULL : lk_arena_printf(arena, "/proc/self/fd/%d", fd);
}

/* In the cache, into which it is moved as a whole, or else a temporary one; NULL after printing an
 * error. */
static char *new_folder(struct lk_arena *arena, const char *cache)
{
    char *folder = cache ? lk_arena_printf(arena, "%s/new.XXXXXX", cache) : NULL;
    if (folder && mkdtemp(folder))
        return folder;
    char *message = NULL, *temporary = host_temporary_folder("run", &message);
    if (!temporary)
        host_error("%s", message);
    folder = temporary ? lk_arena_printf(arena, "%s", temporary) : NULL;
    free(temporary);
    free(message);
    return folder;
}

/* Both of what is compiled and of what comes out; false after printing an error. */
static bool names_are_plain(struct lk_arena *arena, const struct build *build, const char *folder,
                            const char *name)
{
    struct lk_list words = {0};
    char *message = NULL;
    for (size_t i = 0; i < build->command->count; i++)
        lk_list_add(&words, build->command->items[i]);
    lk_list_add(&words, lk_arena_printf(arena, "%s/%s", folder, name));
    bool plain = nvcc_names_are_plain(&words, NULL, &message);
    if (!plain)
        host_error("%s", message);
    free(message);
    lk_list_free(&words);
    return plain;
}

static bool build_new(struct lk_arena *arena, const struct build *build, const char *cache,
                      struct lk_hash128 key, const char *name, struct built *built)
{
    char *folder = new_folder(arena, cache);
    if (!folder)
        return false;
    if (!names_are_plain(arena, build, folder, name)) {
        host_remove_tree(folder);
        return false;
    }
    char *rules = lk_arena_printf(arena, "%s/rules.d", folder);
    struct lk_list files = {0};
    struct stat start = {0}; /* a time from the clock that the files are dated by */
    (void)stat(folder, &start);
    bool together = cache && build_has_one_source(build);
    pid_t listing = cache && !together ? build_list_inputs(build, rules) : -1;
    bool compiled = compile(arena, build, folder, name, together ? rules : NULL);
    bool listed =
        (together || host_wait(listing) == 0) && build_read_inputs(arena, build, rules, &files);
    unlink(rules);
    built->path = NULL;
    if (compiled && listed && !build_changed_since(&files, start.st_ctim)) {
        built->path = cache_keep(arena, cache, key, &files, folder, name);
        cache_trim(cache);
    }
    if (compiled && !built->path)
        built->path = open_and_remove(arena, folder, name);
    if (!compiled)
        host_remove_tree(folder);
    lk_list_free(&files);
    return built->path != NULL;
}

bool build_program(struct lk_arena *arena, const struct build *build, struct built *built)
{
    char *name = program_name(arena, build->inputs);
    char *cache = cache_folder(arena);
    struct lk_hash128 key = build_key(build);
    *built = (struct built){.name = lk_arena_printf(arena, "./%s", name)};
    built->path = cache ? cache_find(arena, cache, key, name) : NULL;
    built->cached = built->path != NULL;
    bool ready = built->cached || build_new(arena, build, cache, key, name, built);
    if (ready && build->verbose)
        fprintf(stderr, "+ # %s %s\n", built->cached ? "cached:" : "built:", built->path);
    if (ready && build->keep)
        host_error("kept: %s (and keep/ beside it)", built->path);
    return ready;
}
