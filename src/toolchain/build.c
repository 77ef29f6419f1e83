/*
 * build.c: nvcc and the cache together; see build.h.
 * A second nvcc lists the included files while the first compiles (its own -MD forgets all but the
 * last of several sources). The toolkit's and the system's headers are not looked at again: nvcc's
 * size and date stand for them.
 */
#include "toolchain/build.h"

#include "base/buf.h"
#include "base/hash.h"
#include "host/child.h"
#include "host/files.h"
#include "host/terminal.h"
#include "toolchain/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_FORMAT "lockstep run 1"

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

/* The key ----------------------------------------------------------------------------------------
 */

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

/* The files read ---------------------------------------------------------------------------------
 */

/* nvcc -M, which only lists what the sources include, into the file path. */
static pid_t start_listing(const struct build *build, const char *path)
{
    struct lk_list command = {0};
    for (size_t i = 0; i < build->command->count; i++) {
        const char *word = build->command->items[i];
        bool linked = false;
        for (size_t j = 0; j < build->inputs->count; j++)
            linked = linked || (word == build->inputs->items[j] && !build_is_source(word));
        if (!linked)
            lk_list_add(&command, word);
    }
    lk_list_add(&command, "-M");
    pid_t child = host_start(
        &(struct host_command){.words = command.items, .output = path, .errors = "/dev/null"});
    lk_list_free(&command);
    return child;
}

/* The next word of make's rules at *at, unquoted into word, which has the text's size. */
static bool next_word(const char **at, char *word)
{
    const char *from = *at;
    size_t length = 0;
    while (*from == ' ' || *from == '\t' || *from == '\n' || (*from == '\\' && from[1] == '\n'))
        from += 1 + (*from == '\\');
    while (*from && !strchr(" \t\n", *from) && !(*from == '\\' && from[1] == '\n')) {
        if ((*from == '\\' && (from[1] == ' ' || from[1] == '#')) ||
            (*from == '$' && from[1] == '$'))
            from++;
        word[length++] = *from++;
    }
    word[length] = 0;
    *at = from;
    return length > 0;
}

static bool is_systems(const char *path, const char *nvcc_folder)
{
    return strncmp(path, "/usr/include/", 13) == 0 || strncmp(path, "/usr/lib/", 9) == 0 ||
           strncmp(path, nvcc_folder, strlen(nvcc_folder)) == 0;
}

/* "a.o : a.cu b.h ..." for every source; the word before the colon is no file that was read. */
static void parse_rules(struct lk_arena *arena, const char *text, size_t size,
                        const char *nvcc_folder, struct lk_list *files)
{
    char *word = lk_alloc(size + 1);
    const char *target = NULL;
    while (next_word(&text, word)) {
        if (strcmp(word, ":") == 0) {
            target = NULL;
            continue;
        }
        if (target && !is_systems(target, nvcc_folder))
            lk_list_add(files, target);
        target = lk_arena_strndup(arena, word, strlen(word));
    }
    if (target && !is_systems(target, nvcc_folder))
        lk_list_add(files, target);
    free(word);
}

/* What follows the flag in this word or in the next; NULL if this word is not the flag. */
static const char *flag_value(const struct lk_list *command, size_t index, const char *flag)
{
    const char *word = command->items[index];
    if (strncmp(word, flag, 2) != 0)
        return NULL;
    return word[2] ? word + 2 : command->items[index + 1];
}

/* -lNAME is a file too, where a -LFOLDER has it. */
static void add_libraries(struct lk_arena *arena, const struct lk_list *command,
                          struct lk_list *files)
{
    static const char *const endings[] = {"so", "a"};
    for (size_t i = 1; i < command->count; i++) {
        const char *name = flag_value(command, i, "-l");
        for (size_t j = 1; name && j < command->count; j++) {
            const char *folder = flag_value(command, j, "-L");
            for (size_t k = 0; folder && k < 2; k++) {
                char *path = lk_arena_printf(arena, "%s/lib%s.%s", folder, name, endings[k]);
                if (access(path, R_OK) == 0)
                    lk_list_add(files, path);
            }
        }
    }
}

/* Everything that the build read, and false if that is not known. */
static bool list_files(struct lk_arena *arena, const struct build *build, const char *rules_path,
                       struct lk_list *files)
{
    const char *nvcc = build->command->items[0], *slash = strrchr(nvcc, '/');
    char *nvcc_folder = lk_arena_strndup(arena, nvcc, slash ? (size_t)(slash + 1 - nvcc) : 0);
    struct lk_buf rules = {0};
    if (!host_read_file(rules_path, &rules, NULL))
        return false;
    parse_rules(arena, rules.data, rules.size, nvcc_folder, files);
    lk_buf_free(&rules);
    bool known = files->count > 0;
    for (size_t i = 0; i < files->count; i++)
        known = known && !strchr(files->items[i], '\n');
    for (size_t i = 0; i < build->inputs->count; i++)
        if (!build_is_source(build->inputs->items[i]))
            lk_list_add(files, build->inputs->items[i]);
    add_libraries(arena, build->command, files);
    return known;
}

/* A file that was edited while nvcc ran may not be what nvcc read. */
static bool changed_since(const struct lk_list *files, struct timespec start)
{
    for (size_t i = 0; i < files->count; i++) {
        struct stat file;
        if (stat(files->items[i], &file) != 0 || file.st_ctim.tv_sec > start.tv_sec ||
            (file.st_ctim.tv_sec == start.tv_sec && file.st_ctim.tv_nsec > start.tv_nsec))
            return true;
    }
    return false;
}

/* Compiling --------------------------------------------------------------------------------------
 */

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

/* Runs nvcc with its results in folder. What it says on stdout goes to stderr: stdout is the
 * program's. */
static bool compile(struct lk_arena *arena, const struct build *build, const char *folder,
                    const char *name)
{
    struct lk_list command = {0};
    for (size_t i = 0; i < build->command->count; i++)
        lk_list_add(&command, build->command->items[i]);
    if (build->keep) {
        char *keep = lk_arena_printf(arena, "%s/keep", folder);
        (void)mkdir(keep, 0777); /* nvcc says so if it is not there */
        lk_list_add(&command, "--keep");
        lk_list_add(&command, "--keep-dir");
        lk_list_add(&command, keep);
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
    int fd = open(lk_arena_printf(arena, "%s/%s", folder, name), O_RDONLY | O_CLOEXEC);
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

static bool build_new(struct lk_arena *arena, const struct build *build, const char *cache,
                      struct lk_hash128 key, const char *name, struct built *built)
{
    char *folder = new_folder(arena, cache);
    if (!folder)
        return false;
    char *rules = lk_arena_printf(arena, "%s/rules.d", folder);
    struct lk_list files = {0};
    struct stat start = {0}; /* the files' own clock says when */
    (void)stat(folder, &start);
    pid_t listing = cache ? start_listing(build, rules) : -1;
    bool compiled = compile(arena, build, folder, name);
    bool listed = host_wait(listing) == 0 && list_files(arena, build, rules, &files);
    unlink(rules);
    built->path = NULL;
    if (compiled && listed && !changed_since(&files, start.st_ctim)) {
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
