/*
 * demangle.c: asks __cxa_demangle, and shortens its answer; see demangle.h.
 *
 * The C++ runtime is opened when the first name asks for it: nothing else here needs it, and a
 * machine may have none.
 */
#include "host/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangler(const char *mangled, char *buffer, size_t *size, int *status);

static demangler *demangle;

static void open_runtime(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !demangle; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL); /* stays open */
        demangle = library ? (demangler *)dlsym(library, "__cxa_demangle") : NULL;
    }
}

/* Tags, as in "fill[abi:v1]": Numba's names have long ones. */
static void cut_tags(char *name)
{
    for (char *tag; name && (tag = strstr(name, "[abi:")) && strchr(tag, ']');)
        memmove(tag, strchr(tag, ']') + 1, strlen(strchr(tag, ']')));
}

/* Numba's names begin with the Python module; of a script that says nothing. */
static void cut_main(char *name)
{
    static const char module[] = "__main__::";
    if (name && strncmp(name, module, sizeof module - 1) == 0)
        memmove(name, name + sizeof module - 1, strlen(name + sizeof module - 1) + 1);
}

/* "void tools::fill<float, 3>(float*)"; NULL if it is not a mangled name. */
static char *ask_runtime(const char *mangled)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int status;
    if (strncmp(mangled, "_Z", 2) != 0)
        return NULL;
    pthread_once(&once, open_runtime);
    char *name = demangle ? demangle(mangled, NULL, NULL, &status) : NULL;
    cut_tags(name);
    cut_main(name);
    return name;
}

/* Where the bracket that text[end - 1] closes was opened; end itself if it was not. */
static size_t opening(const char *text, size_t end)
{
    size_t depth = 0;
    for (size_t at = end; at-- > 0;) {
        depth += strchr(")>}", text[at]) != NULL;
        depth -= strchr("(<{", text[at]) != NULL;
        if (depth == 0)
            return at;
    }
    return end;
}

/* Where the text after the last separator outside brackets begins. */
static size_t last_part(const char *text, const char *separator)
{
    size_t length = strlen(separator), at = strlen(text);
    while (at > 0) {
        if (at >= length && strncmp(text + at - length, separator, length) == 0)
            return at;
        size_t open = strchr(")>}", text[at - 1]) ? opening(text, at) : at;
        at = open < at ? open : at - 1;
    }
    return 0;
}

static void cut_parameters(char *name)
{
    static const char after[] = " const";
    size_t length = strlen(name), tail = sizeof after - 1;
    if (length > tail && strcmp(name + length - tail, after) == 0)
        length -= tail;
    if (length && name[length - 1] == ')')
        name[opening(name, length)] = 0;
}

char *host_demangle(const char *mangled)
{
    char *name = ask_runtime(mangled);
    if (!name)
        return strdup(mangled);
    cut_parameters(name);
    size_t begin = last_part(name, " "); /* after the return type */
    memmove(name, name + begin, strlen(name + begin) + 1);
    return name;
}

/* "a::b" of "a::(anonymous namespace)::b<int>"; nvcc has a namespace _INTERNAL_.. for what is
 * static in a file. */
static void drop_brackets(char *name)
{
    static const char internal[] = "_INTERNAL_";
    size_t depth = 0, out = 0, part = 0;
    for (const char *at = name; *at; at++) {
        depth += strchr("(<{", *at) != NULL;
        if (depth == 0)
            name[out++] = *at;
        if (depth && strchr(")>}", *at))
            depth--;
        if (depth || out < part + 2 || strncmp(name + out - 2, "::", 2) != 0)
            continue;
        if (out == part + 2 || strncmp(name + part, internal, sizeof internal - 1) == 0)
            out = part;
        part = out;
    }
    name[out] = 0;
}

char *host_demangle_briefly(const char *mangled)
{
    char *name = host_demangle(mangled);
    bool is_local = strncmp(mangled, "_ZZ", 3) == 0; /* in a function */
    size_t begin = is_local ? last_part(name, "::") : 0;
    memmove(name, name + begin, strlen(name + begin) + 1);
    drop_brackets(name);
    if (*name)
        return name;
    free(name);
    return strdup(mangled);
}
