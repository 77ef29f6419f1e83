/*
 * request.c: separates our options from nvcc's and the program's; see request.h.
 */
#include "cli/request.h"

#include "toolchain/build.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_in(const char *path, const char *const *endings)
{
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name ? name : path, '.');
    for (; dot && *endings; endings++)
        if (strcmp(dot, *endings) == 0)
            return true;
    return false;
}

static bool is_linked(const char *path)
{
    static const char *const endings[] = {".o", ".a", ".so", ".obj", NULL};
    return ends_in(path, endings) || strstr(path, ".so.");
}

bool request_is_program(const char *path)
{
    struct stat status;
    return !build_is_source(path) && !is_linked(path) && stat(path, &status) == 0 &&
           S_ISREG(status.st_mode);
}

bool request_check_setting(const char *option, const char *value)
{
    unsigned long long number;
    if (strcmp(option, "--threads") == 0)
        return cli_number(option, value, 1, 4096, &number);
    if (strcmp(option, "--limit") == 0)
        return cli_number(option, value, 1, UINT64_MAX, &number);
    if (strncmp(value, "random:", 7) == 0)
        return cli_number("--schedule random:SEED", value + 7, 0, UINT64_MAX, &number);
    host_error("--schedule takes random:SEED, as in random:1, not '%s'", value);
    return false;
}

/* One of our own options; *bad if it is one but wrong. */
static bool our_option(int count, char **words, int *at, struct request *request, bool *bad)
{
    const char *value;
    if (cli_flag(words, at, "--keep"))
        return request->keep = true;
    if (cli_flag(words, at, "--verbose"))
        return request->verbose = true;
    if (cli_flag(words, at, "--poison"))
        return request->poison = true;
    if (cli_option(count, words, at, "--gpu", &value)) {
        request->gpu = value;
        *bad = !value;
        return true;
    }
    const struct {
        const char *name, **value;
    } settings[] = {{"--threads", &request->threads},
                    {"--limit", &request->limit},
                    {"--schedule", &request->schedule}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (cli_option(count, words, at, settings[i].name, settings[i].value)) {
            value = *settings[i].value;
            *bad = !value || !request_check_setting(settings[i].name, value);
            return true;
        }
    return false;
}

static bool check_inputs(const char *command, struct request *request)
{
    if (request->nvcc.inputs.count == 0) {
        host_error("which program? as in 'lockstep %s prog.cu'", command);
        return false;
    }
    bool sources = false;
    for (size_t i = 0; i < request->nvcc.inputs.count; i++) {
        const char *path = request->nvcc.inputs.items[i];
        bool known = build_is_source(path) || is_linked(path);
        struct stat status;
        sources = sources || build_is_source(path);
        if (stat(path, &status) != 0) {
            host_error("%s: no such file", path);
            return false;
        }
        if (S_ISDIR(status.st_mode)) {
            host_error("%s: is a folder, not a program", path);
            return false;
        }
        if (!known && request->nvcc.words.count > 1) {
            host_error("'%s' is not a source file; the program's own arguments go after --", path);
            return false;
        }
        if (!known)
            request->program = path;
    }
    if (!sources && !request->program) {
        host_error("there is no source file among the inputs; "
                   "'lockstep %s prog.cu' or 'lockstep %s ./program'",
                   command, command);
        return false;
    }
    return true;
}

bool request_parse(struct lk_arena *arena, const char *command, int count, char **words,
                   struct request *request)
{
    static char *no_arguments[] = {NULL};
    *request = (struct request){.arguments = no_arguments};
    char *message = NULL;
    bool bad = false;
    for (int at = 0; at < count;) {
        if (strcmp(words[at], "--") == 0) {
            request->arguments = words + at + 1; /* argv ends with NULL */
            break;
        }
        if (our_option(count, words, &at, request, &bad)) {
            if (bad)
                return false;
        } else if (words[at][0] == '-' && words[at][1]) {
            if (!nvcc_add_option(arena, &request->nvcc, count, words, &at, &message)) {
                host_error("%s", message);
                free(message);
                return false;
            }
        } else {
            nvcc_add_input(&request->nvcc, words[at++]);
        }
    }
    return check_inputs(command, request);
}

bool request_parse_options(const char *command, int count, char **words, struct request *request)
{
    *request = (struct request){0};
    bool bad = false;
    for (int at = 0; at < count && !bad;)
        if (!our_option(count, words, &at, request, &bad)) {
            host_error("%s: '%s' is not understood before a script", command, words[at]);
            return false;
        }
    return !bad;
}

void request_free(struct request *request)
{
    nvcc_words_free(&request->nvcc);
}
