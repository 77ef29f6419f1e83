/*
 * client.c: finds the interpreter or program of a client, and sets the environment in which
 * packages find our libraries and tools in place of NVIDIA's; see client.h and docs/clients.md.
 */
#include "cli/client.h"

#include "cli/request.h"
#include "host/child.h"
#include "host/files.h"
#include "toolchain/build.h"
#include "zoo/zoo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where it begins -------------------------------------------------------------------------------*/

static const struct {
    const char *name;
    int values; /* words that follow it */
} options[] = {
#define OPTION(name, values) {name, values},
#include "cli/program_options.def"
};

/* How many words the option takes, with its values; 0 if it is not one of ours. */
static int option_words(const char *word)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t length = strlen(options[i].name);
        if (strncmp(word, options[i].name, length) != 0)
            continue;
        if (!word[length])
            return 1 + options[i].values;
        if (word[length] == '=' && options[i].values)
            return 1;
    }
    return 0;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);
    return length > size && strcmp(text + length - size, end) == 0;
}

/* Does the file begin with "#!"? Its first line, in the arena, if so. */
static char *script_line(struct lk_arena *arena, const char *path)
{
    char line[256] = "";
    FILE *file = fopen(path, "r");
    bool is_script = file && fgets(line, sizeof line, file) && strncmp(line, "#!", 2) == 0;
    if (file)
        fclose(file);
    line[strcspn(line, "\r\n")] = 0;
    return is_script ? lk_arena_strndup(arena, line, strlen(line)) : NULL;
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool is_family(const char *word)
{
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    char *message = NULL;
    bool found = zoo_find(word, &family, &variant, &message);
    free(message);
    return found;
}

/* A script, or a program on PATH; a path to a program is run's other way, which reads it first. */
static bool is_client(const char *word)
{
    if (ends_in(word, ".py"))
        return true;
    if (build_is_source(word) || is_family(word))
        return false;
    struct lk_arena *arena = lk_arena_create();
    bool found = is_file(word) ? script_line(arena, word) != NULL
                               : !strchr(word, '/') && host_find_program(arena, word);
    lk_arena_destroy(arena);
    return found;
}

int client_at(int count, char **words)
{
    for (int at = 0; at < count;) {
        int own = option_words(words[at]);
        if (!own && strcmp(words[at], "-m") == 0) /* nvcc has -m 64, and -m32 */
            return at + 1 < count && !strchr("0123456789", words[at + 1][0]) ? at : count;
        if (!own)
            return words[at][0] != '-' && is_client(words[at]) ? at : count;
        at += own;
    }
    return count;
}

/* Past our own options. */
static int past_options(int count, char **words, int at)
{
    for (int own; at < count && (own = option_words(words[at]));)
        at += own;
    return at < count ? at : count;
}

void client_part_arguments(struct lk_arena *arena, int *count, char ***words)
{
    int at = past_options(*count, *words, 0);
    if (at == *count || !request_is_program((*words)[at]) || is_client((*words)[at]))
        return;
    at = past_options(*count, *words, at + 1);
    if (at == *count || strcmp((*words)[at], "--") == 0)
        return;
    char **parted = lk_arena_alloc(arena, (size_t)(*count + 2) * sizeof *parted);
    memcpy(parted, *words, (size_t)at * sizeof *parted);
    parted[at] = lk_arena_strndup(arena, "--", 2);
    memcpy(parted + at + 1, *words + at, (size_t)(*count - at + 1) * sizeof *parted); /* and NULL */
    *words = parted;
    ++*count;
}

/* What to start ---------------------------------------------------------------------------------*/

/* "#!/usr/bin/python3 -u" names an interpreter; "#!/usr/bin/env python3" leaves it to PATH. */
static char *script_interpreter(struct lk_arena *arena, const char *path)
{
    char *line = script_line(arena, path);
    if (!line)
        return NULL;
    line += 2 + strspn(line + 2, " \t");
    line[strcspn(line, " \t")] = 0;
    return ends_in(line, "/env") ? NULL : host_find_program(arena, line);
}

/* The one that LOCKSTEP_PYTHON names; that of the virtual environment; the script's own; the one on
 * PATH. */
static char *find_python(struct lk_arena *arena, const char *script)
{
    const char *environment = getenv("VIRTUAL_ENV");
    const char *asked = getenv("LOCKSTEP_PYTHON");
    char *found = asked && *asked ? host_find_program(arena, asked) : NULL;
    if (!found && environment && *environment)
        found = host_find_program(arena, lk_arena_printf(arena, "%s/bin/python", environment));
    if (!found && script)
        found = script_interpreter(arena, script);
    if (!found)
        found = host_find_program(arena, "python3");
    if (!found)
        found = host_find_program(arena, "python");
    return found;
}

char *client_python(struct lk_arena *arena)
{
    return find_python(arena, NULL);
}

bool client_find(struct lk_arena *arena, int count, char **words, struct start *start)
{
    bool module = strcmp(words[0], "-m") == 0, script = !module && ends_in(words[0], ".py");
    const char **arguments = lk_arena_alloc(arena, (size_t)(count + 2) * sizeof *arguments);
    int used = 0, at = 1;
    if (script && !is_file(words[0])) {
        host_error("%s: no such file", words[0]);
        return false;
    }
    if (module || script) {
        start->path = find_python(arena, script ? words[0] : NULL);
        if (!start->path)
            host_error("there is no Python here: no $VIRTUAL_ENV, no python3 on PATH; "
                       "apt-get install python3");
        arguments[used++] = words[0];
    } else {
        start->path = is_file(words[0]) ? words[0] : host_find_program(arena, words[0]);
    }
    if (!module && at < count && strcmp(words[at], "--") == 0)
        at++;
    while (at < count)
        arguments[used++] = words[at++];
    arguments[used] = NULL;
    start->name = start->path;
    start->title = module ? words[1] : words[0];
    start->arguments = (char **)arguments;
    return start->path != NULL;
}

/* Its environment -------------------------------------------------------------------------------*/

/* What packages keep on disk between runs must not meet what they keep for a real GPU. */
static void put_cache(const char *variable, const char *name)
{
    char *path = getenv(variable) ? NULL : host_cache_path(name);
    if (path)
        start_put(variable, path);
    free(path);
}

const char *client_hooks_folder(struct lk_arena *arena)
{
    return toolchain_find_folder(arena, "LOCKSTEP_HOOKS", "/../python/clients",
                                 "/../share/lockstep/python/clients");
}

bool client_put_environment(struct lk_arena *arena, const char *folder)
{
    char *audit = lk_arena_printf(arena, "%s/liblockstep_audit.so", folder);
    char *ptxas = lk_arena_printf(arena, "%s/clients/ptxas", folder);
    char *nvrtc = toolchain_find_nvrtc(arena), *slash = nvrtc ? strrchr(nvrtc, '/') : NULL;
    if (access(audit, R_OK) != 0) {
        host_error("%s: %s; build it with 'make'", audit, strerror(errno));
        return false;
    }
    start_put("LOCKSTEP_LIBRARIES", folder);
    start_put_first(arena, "LD_AUDIT", audit);
    if (slash)
        start_put("LOCKSTEP_TOOLKIT", lk_arena_printf(arena, "%.*s", (int)(slash - nvrtc), nvrtc));
    start_put("TRITON_PTXAS_PATH", ptxas);
    start_put("TRITON_PTXAS_BLACKWELL_PATH", ptxas); /* for sm_100 and newer */
    start_put("TRITON_LIBCUDA_PATH", folder);
    start_put("NUMBA_CUDA_DRIVER", lk_arena_printf(arena, "%s/libcuda.so.1", folder));
    const char *hooks = client_hooks_folder(arena);
    if (hooks)
        start_put_first(arena, "PYTHONPATH", hooks);
    put_cache("CUPY_CACHE_DIR", "cupy");
    put_cache("NUMBA_CACHE_DIR", "numba");
    put_cache("TORCH_EXTENSIONS_DIR", "torch_extensions");
    put_cache("TORCHINDUCTOR_CACHE_DIR", "inductor");
    if (!getenv("TORCHINDUCTOR_COMPILE_THREADS")) /* its workers do not answer here */
        start_put("TORCHINDUCTOR_COMPILE_THREADS", "1");
    return true;
}
