/*
 * prune.c: headers without what a source does not use; see source.h. A header is cut into parts: a
 * function with the comment above it, a macro, a declaration. Functions for the device and macros
 * stay if they are named; everything else stays anyway.
 */
#include "export/source.h"

#include "base/arena.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool export_has_word(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++)
        if ((at == text || !is_word(at[-1])) && !is_word(at[length]))
            return true;
    return false;
}

/* Cutting ---------------------------------------------------------------------------------------*/

struct export_part {
    char *text;
    char name[64];     /* "" for what always stays */
    bool blank_before; /* a blank line stood before it */
    bool kept;
};

/* Past a comment or a literal that begins at `at`; `at` itself if none does. */
static const char *past_quiet(const char *at)
{
    if (strncmp(at, "//", 2) == 0)
        return at + strcspn(at, "\n");
    if (strncmp(at, "/*", 2) == 0) {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (*at != '"' && *at != '\'')
        return at;
    for (const char quote = *at++; *at && *at != quote; at++)
        at += *at == '\\';
    return at + (*at != '\0');
}

/* Past a preprocessor's line, with those that continue it. */
static const char *past_directive(const char *at)
{
    do
        at += strcspn(at, "\n") + 1;
    while (at[-2] == '\\' && at[-1]);
    return at[-1] ? at : at - 1;
}

/* Does a macro's use, which needs no semicolon, begin at `at`? Macros are written in capitals. */
static bool is_macro_use(const char *at)
{
    size_t length = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return length > 0 && at[length] == '(';
}

/* Past the declaration or definition at `at`: to the end of the line that closes it. */
static const char *past_declaration(const char *at)
{
    int depth = 0;
    bool is_macro = is_macro_use(at);
    for (const char *next; *at; at = next) {
        next = past_quiet(at);
        if (next != at)
            continue;
        next = at + 1;
        depth += (*at == '{' || *at == '(') - (*at == '}' || *at == ')');
        if (depth == 0 && (*at == ';' || (*at == '}' && at[1] != ';' && at[1] != ' ') ||
                           (is_macro && *at == ')')))
            break;
    }
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

/* The name before the first parenthesis that is not of an attribute or a template. */
static void function_name(const char *text, char name[64])
{
    for (const char *open = strchr(text, '('); open; open = strchr(open + 1, '(')) {
        const char *begin = open;
        while (begin > text && is_word(begin[-1]))
            begin--;
        snprintf(name, 64, "%.*s", (int)(open - begin), begin);
        if (*name && strncmp(name, "__", 2) != 0)
            return;
    }
    *name = '\0';
}

/* Where the code of a part begins, past the comments in front of it. */
static const char *code_of(const char *text)
{
    for (const char *next;; text = next) {
        text += strspn(text, " \t\n");
        next = *text == '/' ? past_quiet(text) : text;
        if (next == text)
            return text;
    }
}

static void name_part(struct export_part *part)
{
    const char *code = code_of(part->text);
    if (sscanf(code, "#define %63[A-Za-z0-9_]", part->name) == 1)
        return;
    const char *body = strchr(code, '{');
    char *head = strndup(code, body ? (size_t)(body - code) : 0);
    if (strstr(head, "__device__") && !strstr(head, "struct ") && !strstr(head, "union "))
        function_name(head, part->name);
    free(head);
}

/* A comment and what follows it without a blank line are one part. */
static const char *past_part(const char *at)
{
    for (;;) {
        const char *next = past_quiet(at);
        if (next == at)
            return *at == '#' ? past_directive(at) : past_declaration(at);
        at = next + (*next == '\n');
        if (*at == '\n' || !*at)
            return at;
    }
}

/* nvcc warns of static functions that are not used, and an overload may be such a one. Those in a
 * structure are indented. */
static void drop_static(char *text)
{
    static const char word[] = "static __device__";
    for (char *at = text; (at = strstr(at, word)); at++)
        if (at == text || at[-1] == '\n')
            memmove(at, at + 7, strlen(at + 7) + 1);
}

static struct export_part *add_part(struct export_parts *parts, const char *text, size_t size)
{
    parts->list = lk_realloc(parts->list, (parts->count + 1) * sizeof *parts->list);
    struct export_part *part = &parts->list[parts->count++];
    *part = (struct export_part){.text = strndup(text, size)};
    return part;
}

/* "Loads ------": of a header's section, of which little may be left. */
static bool is_heading(const struct export_part *part)
{
    return strstr(part->text, "---*/") && !*code_of(part->text);
}

void export_add_part(struct export_parts *parts, const char *text, size_t size, bool of_header)
{
    if (!of_header) {
        add_part(parts, text, size)->kept = true;
        return;
    }
    char *header = strndup(text, size);
    for (const char *at = header, *next; *(next = at + strspn(at, " \t\n")); at = next) {
        bool blank = memmem(at, (size_t)(next - at), "\n", 1) != NULL;
        at = next;
        next = past_part(at);
        struct export_part *part = add_part(parts, at, (size_t)(next - at));
        part->blank_before = blank;
        drop_static(part->text);
        name_part(part);
        part->kept = !*part->name && !is_heading(part);
    }
    free(header);
}

/* Joining ---------------------------------------------------------------------------------------*/

/* Does text paste names that begin as this one does, as in WIDE_##n? */
static bool pastes(const char *text, const char *name)
{
    for (const char *at = text; (at = strstr(at, "##")); at += 2) {
        const char *begin = at;
        while (begin > text && is_word(begin[-1]))
            begin--;
        size_t length = (size_t)(at - begin);
        if (length > 1 && strncmp(begin, name, length) == 0)
            return true;
    }
    return false;
}

static bool is_named(const struct export_parts *parts, const char *name)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->list[i].kept &&
            (export_has_word(parts->list[i].text, name) || pastes(parts->list[i].text, name)))
            return true;
    return false;
}

/* Without a second blank line after another. */
static void add_lines(struct lk_buf *text, const char *lines)
{
    for (; *lines; lines++) {
        bool blank = text->size == 0 ||
                     (text->size >= 2 && memcmp(text->data + text->size - 2, "\n\n", 2) == 0);
        if (*lines != '\n' || !blank)
            lk_buf_add(text, lines, 1);
    }
}

void export_join_parts(struct export_parts *parts, struct lk_buf *text)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < parts->count; i++)
            if (!parts->list[i].kept && *parts->list[i].name &&
                is_named(parts, parts->list[i].name))
                changed = parts->list[i].kept = true;
    }
    for (size_t i = 0; i < parts->count; i++) {
        const struct export_part *part = &parts->list[i];
        if (part->kept && part->blank_before)
            add_lines(text, "\n");
        if (part->kept)
            add_lines(text, part->text);
        free(part->text);
    }
    free(parts->list);
    *parts = (struct export_parts){0};
}
