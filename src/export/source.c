/*
 * source.c: a variant's source as one text; see source.h.
 */
#include "export/source.h"

#include "tune/tune.h"
#include "zoo/embedded.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADERS = 32 };

struct inlining {
    const struct zoo_family *family;
    struct export_parts parts;
    const struct zoo_embedded_file *done[HEADERS];
    unsigned done_count;
    char *message;
};

/* Headers ---------------------------------------------------------------------------------------*/

/* As the compiler finds it: beside the source, then in kernels/include. */
static const struct zoo_embedded_file *find_header(const struct zoo_family *family,
                                                   const char *name)
{
    const char *const folders[] = {family->name, "include"};
    char path[160];
    for (unsigned f = 0; f < 2; f++) {
        snprintf(path, sizeof path, "%s/%s", folders[f], name);
        for (size_t i = 0; i < zoo_embedded_file_count; i++)
            if (strcmp(zoo_embedded_files[i].path, path) == 0)
                return &zoo_embedded_files[i];
    }
    return NULL;
}

/* A header without the three lines of its include guard. */
static bool without_guard(const struct zoo_embedded_file *file, struct lk_buf *text)
{
    const char *begin = strstr(file->text, "#ifndef "), *end = NULL;
    char name[80], define[100];
    if (!begin || sscanf(begin, "#ifndef %79s", name) != 1)
        return false;
    snprintf(define, sizeof define, "#define %s\n", name);
    const char *defined = strchr(begin, '\n') + 1;
    if (strncmp(defined, define, strlen(define)) != 0)
        return false;
    for (const char *at = defined; (at = strstr(at, "#endif")); at++)
        end = at;
    if (!end)
        return false;
    lk_buf_add(text, file->text, (size_t)(begin - file->text));
    defined += strlen(define);
    lk_buf_add(text, defined, (size_t)(end - defined));
    return true;
}

/* Whether line includes a header of ours, and which. */
static bool read_include(const char *line, char name[96])
{
    return sscanf(line, " # include \"%95[^\"]\"", name) == 1;
}

static bool inline_lines(struct inlining *inlining, const char *source, bool of_header);

static bool inline_header(struct inlining *inlining, const char *name)
{
    const struct zoo_embedded_file *file = find_header(inlining->family, name);
    struct lk_buf bare = {0};
    if (!file) {
        inlining->message = lk_say("%s: there is no header '%s'", inlining->family->name, name);
        return false;
    }
    for (unsigned i = 0; i < inlining->done_count; i++)
        if (inlining->done[i] == file)
            return true;
    /* What has no guard is meant to be included several times, and is taken as it is. */
    bool once = without_guard(file, &bare);
    if (once && inlining->done_count < HEADERS)
        inlining->done[inlining->done_count++] = file;
    bool fine = inline_lines(inlining, once ? bare.data : file->text, once);
    lk_buf_free(&bare);
    return fine;
}

static bool inline_lines(struct inlining *inlining, const char *source, bool of_header)
{
    const char *begin = source; /* of what is not in the parts yet */
    for (const char *line = source, *next; *line; line = next) {
        char name[96];
        bool arch = strncmp(line, "// arch:", 8) == 0, include = read_include(line, name);
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        if (!arch && !include && *next)
            continue;
        const char *end = arch || include ? line : next;
        if (end > begin)
            export_add_part(&inlining->parts, begin, (size_t)(end - begin), of_header);
        begin = next;
        if (include && !inline_header(inlining, name))
            return false;
    }
    return true;
}

bool export_source(const struct zoo_family *family, const struct zoo_variant *variant,
                   const struct zoo_tuning *tuning, struct lk_buf *text, char **message)
{
    struct lk_buf tuned = {0};
    struct inlining inlining = {.family = family};
    tune_rewrite(zoo_source(family, variant), tuning, &tuned);
    bool fine = inline_lines(&inlining, tuned.data, false);
    export_join_parts(&inlining.parts, text);
    *message = inlining.message;
    lk_buf_free(&tuned);
    return fine;
}

/* Arguments -------------------------------------------------------------------------------------*/

/* The parenthesis that opens the arguments of a kernel. */
static const char *find_kernel(const char *source, const char *kernel)
{
    size_t length = strlen(kernel);
    for (const char *at = source; (at = strstr(at, "__global__")); at++) {
        const char *name = at;
        do
            name = strstr(name + 1, kernel);
        while (name && (isalnum((unsigned char)name[-1]) || name[-1] == '_' ||
                        name[length + strspn(name + length, " ")] != '('));
        const char *body = strpbrk(at, "{;");
        if (name && body && name < body)
            return strchr(name, '(');
    }
    return NULL;
}

bool export_argument_type(const char *source, const char *kernel, unsigned index, char type[64])
{
    const char *at = find_kernel(source, kernel);
    if (!at)
        return false;
    for (at++; index > 0; index--) {
        at = strpbrk(at, ",)");
        if (!at || *at++ != ',')
            return false;
    }
    at += strspn(at, " \n");
    const char *end = at + strcspn(at, ",)"), *name = end;
    while (name > at && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
        name--;
    snprintf(type, 64, "%.*s", (int)(name - at), at);
    char *restricted = strstr(type, "__restrict__");
    if (restricted)
        *restricted = '\0';
    for (size_t size = strlen(type); size && type[size - 1] == ' ';)
        type[--size] = '\0';
    return *type && !strpbrk(type, "<#:");
}
