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

struct header {
    const struct zoo_embedded_file *file;
    bool guarded, done; /* done: it is in the text */
    unsigned included;  /* how often, in the first walk through all of it */
};

struct inlining {
    const struct zoo_family *family;
    struct export_parts parts;
    struct header header[HEADERS];
    unsigned header_count;
    bool counting; /* the first walk */
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

/* NULL, after setting the message, if it is not there. */
static struct header *look_up(struct inlining *inlining, const char *name)
{
    const struct zoo_embedded_file *file = find_header(inlining->family, name);
    for (unsigned i = 0; i < inlining->header_count; i++)
        if (inlining->header[i].file == file)
            return &inlining->header[i];
    if (!file || inlining->header_count == HEADERS) {
        inlining->message = lk_format("%s: there is no header '%s'", inlining->family->name, name);
        return NULL;
    }
    struct header *header = &inlining->header[inlining->header_count++];
    *header = (struct header){.file = file};
    return header;
}

/* What has no guard and is included several times is meant to be, and is taken as it is. */
static bool inline_header(struct inlining *inlining, const char *name)
{
    struct header *header = look_up(inlining, name);
    struct lk_buf bare = {0};
    if (!header)
        return false;
    bool again = header->included > 0;
    header->guarded = without_guard(header->file, &bare);
    header->included += inlining->counting;
    bool fine = true;
    if (!header->guarded || (inlining->counting ? !again : !header->done)) {
        header->done = !inlining->counting;
        export_add_part(&inlining->parts, "\n", 1, false);
        fine = inline_lines(inlining, header->guarded ? bare.data : header->file->text,
                            header->guarded || header->included == 1);
        export_add_part(&inlining->parts, "\n", 1, false);
    }
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
    struct lk_buf none = {0};
    inlining.counting = true;
    bool fine = inline_lines(&inlining, tuned.data, false);
    export_join_parts(&inlining.parts, &none);
    inlining.counting = false;
    fine = fine && inline_lines(&inlining, tuned.data, false);
    export_join_parts(&inlining.parts, text);
    lk_buf_free(&none);
    *message = inlining.message;
    lk_buf_free(&tuned);
    return fine;
}

/* Arguments -------------------------------------------------------------------------------------*/

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The parenthesis that opens the arguments of a kernel whose name stands in the source. */
static const char *find_kernel(const char *source, const char *kernel)
{
    size_t length = strlen(kernel);
    for (const char *at = source; (at = strstr(at, "__global__")); at++) {
        const char *name = at;
        do
            name = strstr(name + 1, kernel);
        while (name && (is_word(name[-1]) || name[length + strspn(name + length, " ")] != '('));
        const char *body = strpbrk(at, "{;");
        if (name && body && name < body)
            return strchr(name, '(');
    }
    return NULL;
}

/* May a macro that names its kernel so, as in bins_##type(, have made this one? */
static bool may_name(const char *open, const char *kernel)
{
    const char *begin = open;
    while (is_word(begin[-1]) || begin[-1] == '#')
        begin--;
    const char *paste = memchr(begin, '#', (size_t)(open - begin));
    return !paste || strncmp(kernel, begin, (size_t)(paste - begin)) == 0;
}

/* The same where a macro makes kernels with that many arguments. */
static const char *find_macro(const char *source, const char *kernel, unsigned count)
{
    for (const char *at = source; (at = strstr(at, "__global__")); at++) {
        const char *body = strpbrk(at, "{;"), *line = strchr(at, '\n'), *open = NULL;
        unsigned commas = 0;
        if (!body || !line || line[-1] != '\\')
            continue;
        for (const char *c = at; c < body; c++) {
            if (*c == '(') {
                open = c;
                commas = 0;
            }
            commas += *c == ',';
        }
        if (open && commas + 1 == count && may_name(open, kernel))
            return open;
    }
    return NULL;
}

/* What a macro's parameters cannot change. */
static bool is_plain_type(const char *type)
{
    static const char *const words[] = {"const", "unsigned", "char",  "short",
                                        "int",   "long",     "float", "double"};
    while (*(type += strspn(type, " *"))) {
        size_t length = strcspn(type, " *");
        bool known = false;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            known |= strlen(words[i]) == length && strncmp(words[i], type, length) == 0;
        if (!known)
            return false;
        type += length;
    }
    return true;
}

/* Type and name as they are declared; *named: the kernel's name stands in the source. */
static bool declared(const char *source, const char *kernel, unsigned count, unsigned index,
                     char type[64], char name[64], bool *named)
{
    const char *open = find_kernel(source, kernel),
               *at = open ? open : find_macro(source, kernel, count);
    *named = open != NULL;
    if (!at)
        return false;
    for (at++; index > 0; index--) {
        at = strpbrk(at, ",)");
        if (!at || *at++ != ',')
            return false;
    }
    at += strspn(at, " \n\\");
    const char *end = at + strcspn(at, ",)"), *word = end;
    while (word > at && is_word(word[-1]))
        word--;
    snprintf(type, 64, "%.*s", (int)(word - at), at);
    snprintf(name, 64, "%.*s", (int)(end - word), word);
    char *restricted = strstr(type, "__restrict__");
    if (restricted)
        *restricted = '\0';
    for (size_t size = strlen(type); size && type[size - 1] == ' ';)
        type[--size] = '\0';
    return *type && !strpbrk(type, "<#:("); /* "(": a macro stands for the arguments */
}

bool export_argument_type(const char *source, const char *kernel, unsigned count, unsigned index,
                          char type[64])
{
    char name[64];
    bool named;
    return declared(source, kernel, count, index, type, name, &named) &&
           (named || is_plain_type(type));
}

bool export_argument_name(const char *source, const char *kernel, unsigned count, unsigned index,
                          char name[64])
{
    char type[64];
    bool named;
    return declared(source, kernel, count, index, type, name, &named) && *name;
}

bool export_structure_type(const char *source, const char *kernel, char type[64])
{
    char whole[64], name[64];
    bool named;
    if (!declared(source, kernel, 1, 0, whole, name, &named) || strchr(whole, '*'))
        return false;
    const char *word = strrchr(whole, ' ');
    snprintf(type, 64, "%s", word ? word + 1 : whole);
    return true;
}
