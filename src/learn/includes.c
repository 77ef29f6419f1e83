/*
 * includes.c: which files an exercise may name. An exercise comes from a browser, and a compiler
 * shows lines of what it includes: `#include "/etc/passwd"` would print it. So a file's name in a
 * directive must be written out, and must be relative and without "..": then it is the learner's
 * own, one of Lockstep's headers or one of the compiler's.
 *
 * The text is not parsed: a directive is looked for wherever one could begin, also in comments and
 * strings, which costs an odd comment a word of explanation and leaves nothing to hide behind.
 */
#include "learn/grade.h"

#include "base/buf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Lines that end in '\' or in its trigraph are joined, as the compiler does first of all. Newlines
 * that go are added to the end of the line, so that lines keep their numbers. */
static char *join_lines(const char *text)
{
    struct lk_buf out = {0};
    unsigned owed = 0;
    for (const char *at = text; *at; at++) {
        size_t length = *at == '\\' ? 1 : strncmp(at, "?\?/", 3) == 0 ? 3 : 0;
        const char *end = at + length + strspn(at + length, " \t\r\f\v"); /* clang forgives these */
        if (length && *end == '\n') {
            owed++;
            at = end;
            continue;
        }
        for (; *at == '\n' && owed > 0; owed--)
            lk_buf_add(&out, "\n", 1);
        lk_buf_add(&out, at, 1);
    }
    return out.data ? out.data : strdup("");
}

static const char *skip_blanks(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\f\v");
        if (strncmp(at, "/*", 2) != 0)
            return at;
        const char *end = strstr(at + 2, "*/");
        at = end ? end + 2 : at + strlen(at);
    }
}

/* How long the '#' is that stands here: itself, its digraph or its trigraph; 0: none does. */
static size_t hash_length(const char *at)
{
    return *at == '#' ? 1 : strncmp(at, "%:", 2) == 0 ? 2 : strncmp(at, "?\?=", 3) == 0 ? 3 : 0;
}

static bool is_name_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (is_name_letter(at[length]))
        length++;
    return length;
}

static bool is_one_of(const char *name, size_t length, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == length && memcmp(name, *list, length) == 0)
            return true;
    return false;
}

/* The file's name behind a directive or in the brackets of __has_include, with its quotes. */
static bool is_plain_name(const char *at)
{
    char end = *at == '<' ? '>' : '"';
    if (*at != '<' && *at != '"')
        return false;
    const char *first = at + 1, *last = first + strcspn(first, end == '>' ? ">\n" : "\"\n");
    if (*last != end || first == last || *first == '/' || *first == '~')
        return false;
    for (const char *part = first; part < last; part += strcspn(part, "/>\"") + 1)
        if (strncmp(part, "..", 2) == 0)
            return false;
    return !memchr(first, '\\', (size_t)(last - first));
}

/* Does at, behind a '#', begin a directive with a file's name that is not allowed? */
static bool names_other_file(const char *at)
{
    static const char *const with_file[] = {"include", "include_next", "import", "embed", NULL};
    at = skip_blanks(at);
    size_t length = name_length(at);
    const char *operand = skip_blanks(at + length);
    if (is_one_of(at, length, with_file))
        return !is_plain_name(operand);
    /* #line 7 "FILE" and # 7 "FILE": some compilers show a line of that file. */
    bool is_line = length == 4 && memcmp(at, "line", 4) == 0;
    const char *number = is_line ? operand : at;
    if (!isdigit((unsigned char)*number))
        return is_line; /* a macro */
    operand = skip_blanks(number + name_length(number));
    return *operand == '"' && !is_plain_name(operand);
}

/* A directive begins a line, perhaps behind a comment. */
static bool may_begin_directive(const char *text, const char *at)
{
    while (at > text && strchr(" \t\r\f\v", at[-1]))
        at--;
    return at == text || at[-1] == '\n' || at[-1] == '/';
}

static bool asks_for_other_file(const char *text, const char *at)
{
    static const char *const questions[] = {"__has_include", "__has_include_next", "__has_embed",
                                            NULL};
    if (at > text && is_name_letter(at[-1]))
        return false;
    size_t length = name_length(at);
    if (!is_one_of(at, length, questions))
        return false;
    at = skip_blanks(at + length);
    return *at == '(' && !is_plain_name(skip_blanks(at + 1));
}

char *learn_check_includes(const char *text, const char *shown)
{
    char *joined = join_lines(text), *message = NULL;
    unsigned line = 1;
    for (const char *at = joined; *at && !message; at++) {
        size_t hash = hash_length(at);
        if ((hash && may_begin_directive(joined, at) && names_other_file(at + hash)) ||
            asks_for_other_file(joined, at))
            message = lk_format("%s:%u: error: an exercise may include files from its own folder, "
                                "Lockstep's headers and the compiler's, by a name that is written "
                                "out, without '/' before it and without '..'\n",
                                shown, line);
        line += *at == '\n';
    }
    free(joined);
    return message;
}
