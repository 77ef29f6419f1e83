/*
 * build_inputs.c: runs nvcc -M if need be, and reads make's rules; see build_inputs.h.
 */
#include "toolchain/build_inputs.h"

#include "base/buf.h"
#include "host/child.h"
#include "host/files.h"
#include "host/headers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of options may name more of them. */
bool build_has_one_source(const struct build *build)
{
    size_t sources = 0;
    for (size_t i = 0; i < build->inputs->count; i++)
        sources += build_is_source(build->inputs->items[i]);
    for (size_t i = 0; i < build->command->count; i++)
        if (strncmp(build->command->items[i], "-optf", 5) == 0 ||
            strncmp(build->command->items[i], "--options-file", 14) == 0)
            return false;
    return sources == 1 && !getenv("NVCC_PREPEND_FLAGS") && !getenv("NVCC_APPEND_FLAGS");
}

pid_t build_list_inputs(const struct build *build, const char *path)
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

/* nvcc names its toolkit's headers by way of its own folder, unless it is a link or a script. */
static bool is_systems(const char *path, const char *nvcc_folder)
{
    const char *const folders[] = {"/usr/include/", "/usr/lib/", nvcc_folder};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (*folders[i] && strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return host_is_toolkit_header(path);
}

/* "a.o : a.cu b.h ..." for every source; the word before a colon is not a file that was read. */
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

bool build_read_inputs(struct lk_arena *arena, const struct build *build, const char *rules_path,
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

bool build_changed_since(const struct lk_list *files, struct timespec start)
{
    for (size_t i = 0; i < files->count; i++) {
        struct stat file;
        if (stat(files->items[i], &file) != 0 || file.st_ctim.tv_sec > start.tv_sec ||
            (file.st_ctim.tv_sec == start.tv_sec && file.st_ctim.tv_nsec > start.tv_nsec))
            return true;
    }
    return false;
}
