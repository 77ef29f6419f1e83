/*
 * ptxlink.c: see ptxlink.h. It works on the text: the parser takes an .extern and its definition
 * in one text as the same thing, so a merge only has to
 *   - keep one header (.version, .target, .address_size), the one with the highest version;
 *   - rename what is local to a text (a "$str" each has), so that equal names do not meet;
 *   - keep the first of equal .weak and .common definitions;
 *   - renumber the source files of .file and .loc.
 */
#include "driver/ptxlink.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FILES_PER_TEXT 10000 /* .file numbers of text k begin at k times this */

struct token {
    const char *start;
    size_t size;
    enum { END, WORD, DIRECTIVE, NUMBER, STRING, SIGN } kind;
};

struct scanner {
    const char *at, *end;
};

static void skip_space(struct scanner *s)
{
    while (s->at < s->end) {
        if (isspace((unsigned char)*s->at)) {
            s->at++;
        } else if (s->end - s->at > 1 && s->at[0] == '/' && s->at[1] == '/') {
            while (s->at < s->end && *s->at != '\n')
                s->at++;
        } else if (s->end - s->at > 1 && s->at[0] == '/' && s->at[1] == '*') {
            s->at += 2;
            while (s->at < s->end && !(s->at[-1] == '*' && s->at[0] == '/'))
                s->at++;
            if (s->at < s->end)
                s->at++;
        } else {
            return;
        }
    }
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static struct token next_token(struct scanner *s)
{
    skip_space(s);
    struct token token = {s->at, 0, END};
    if (s->at == s->end)
        return token;
    char c = *s->at++;
    if (c == '"') {
        token.kind = STRING;
        while (s->at < s->end && *s->at != '"')
            s->at += *s->at == '\\' && s->end - s->at > 1 ? 2 : 1;
        if (s->at < s->end)
            s->at++;
    } else if (in_word(c) || (c == '.' && s->at < s->end && in_word(*s->at))) {
        token.kind = c == '.' ? DIRECTIVE : isdigit((unsigned char)c) ? NUMBER : WORD;
        while (s->at < s->end && in_word(*s->at))
            s->at++;
    } else {
        token.kind = SIGN;
    }
    token.size = (size_t)(s->at - token.start);
    return token;
}

static bool is(const struct token *token, const char *text)
{
    return token->size == strlen(text) && memcmp(token->start, text, token->size) == 0;
}

/* One statement outside all functions. */
struct statement {
    const char *start, *end;
    bool header, is_extern, shared_name, keep_first; /* visible or weak: all texts mean the same */
    bool section, defines;
    struct token name;
};

static void note_head(struct statement *statement, const struct token *token)
{
    if (is(token, ".version") || is(token, ".target") || is(token, ".address_size"))
        statement->header = true;
    else if (is(token, ".section"))
        statement->section = true;
    else if (is(token, ".extern"))
        statement->is_extern = statement->shared_name = true;
    else if (is(token, ".visible"))
        statement->shared_name = true;
    else if (is(token, ".weak") || is(token, ".common"))
        statement->shared_name = statement->keep_first = true;
}

/* Headers have no end mark: they end with their line; .target may list more after commas. */
static bool line_ends(const struct scanner *s)
{
    const char *at = s->at;
    while (at < s->end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at == s->end || *at == '\n' || (*at == '/' && at + 1 < s->end && at[1] == '/');
}

static bool next_statement(struct scanner *s, struct statement *statement)
{
    *statement = (struct statement){0};
    struct token token = next_token(s), before = {0};
    statement->start = token.start;
    bool file = is(&token, ".file");
    int braces = 0, parens = 0;
    for (; token.kind != END; before = token, token = next_token(s)) {
        if (braces == 0 && parens == 0)
            note_head(statement, &token);
        bool value = before.size && (is(&before, ".align") || is(&before, "="));
        if (token.kind == WORD && !braces && !parens && !value && !statement->name.size)
            statement->name = token;
        char c = token.kind == SIGN ? *token.start : 0;
        parens += (c == '(') - (c == ')');
        if (c == '=' || c == '{')
            statement->defines = true;
        braces += (c == '{') - (c == '}');
        bool initialiser = c == '}' && before.size && statement->name.size && s->at < s->end;
        if (initialiser) { /* "= {...};" goes on; a function's body ends here */
            struct scanner ahead = *s;
            struct token semicolon = next_token(&ahead);
            initialiser = semicolon.size == 1 && *semicolon.start == ';';
        }
        if (braces <= 0 && ((c == ';' && parens <= 0) || (c == '}' && !initialiser)))
            break;
        if ((statement->header || file) && line_ends(s))
            break;
    }
    statement->end = s->at;
    return statement->start != s->end;
}

/* Names that this text does not share with others: its locals, and labels of debug sections. */
static void find_locals(const char *text, size_t size, struct lk_map *locals)
{
    struct scanner s = {text, text + size};
    struct statement statement;
    while (next_statement(&s, &statement)) {
        if (statement.name.size && !statement.shared_name && !statement.header &&
            !statement.section)
            lk_map_put(locals, statement.name.start, statement.name.size, locals);
        if (!statement.section)
            continue;
        struct scanner inner = {statement.start, statement.end};
        struct token before = {0};
        for (struct token t = next_token(&inner); t.kind != END; before = t, t = next_token(&inner))
            if (is(&t, ":") && before.kind == WORD)
                lk_map_put(locals, before.start, before.size, locals);
    }
}

/* The statement with its locals renamed and its files renumbered. */
static void emit(struct lk_buf *out, const struct statement *statement, struct lk_map *locals,
                 size_t text)
{
    struct scanner s = {statement->start, statement->end};
    const char *copied = statement->start;
    bool file_next = false;
    for (struct token t = next_token(&s); t.kind != END; t = next_token(&s)) {
        bool rename = t.kind == WORD && lk_map_get(locals, t.start, t.size);
        if (file_next && t.kind == NUMBER) {
            lk_buf_add(out, copied, (size_t)(t.start - copied));
            lk_buf_printf(out, "%zu", text * FILES_PER_TEXT + strtoul(t.start, NULL, 10));
            copied = t.start + t.size;
        } else if (rename) {
            lk_buf_add(out, copied, (size_t)(t.start + t.size - copied));
            lk_buf_printf(out, "$lk%zu", text);
            copied = t.start + t.size;
        }
        file_next = is(&t, ".loc") || is(&t, ".file") || is(&t, "inlined_at");
    }
    lk_buf_add(out, copied, (size_t)(statement->end - copied));
    lk_buf_add(out, "\n", 1);
}

/* The text's .version as major * 100 + minor. */
static unsigned version_of(const char *text, size_t size)
{
    const char *at = memmem(text, size, ".version", 8);
    unsigned version = 0;
    if (at && (size_t)(at - text) + 12 < size) {
        char *end;
        version = (unsigned)strtoul(at + 8, &end, 10) * 100;
        if (*end == '.')
            version += (unsigned)strtoul(end + 1, NULL, 10);
    }
    return version;
}

char *ptxlink_merge(const char *const *texts, const size_t *sizes, size_t count, size_t *size)
{
    struct lk_buf out = {0};
    struct lk_map kept = {0};
    size_t newest = 0;
    if (count == 1) {
        lk_buf_add(&out, texts[0], sizes[0]);
        *size = out.size;
        return out.data;
    }
    for (size_t i = 1; i < count; i++)
        if (version_of(texts[i], sizes[i]) > version_of(texts[newest], sizes[newest]))
            newest = i;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            struct scanner s = {texts[i], texts[i] + sizes[i]};
            struct statement statement;
            struct lk_map locals = {0};
            if (pass == 0 && i != newest)
                continue;
            find_locals(texts[i], sizes[i], &locals);
            while (next_statement(&s, &statement)) {
                if (statement.header != (pass == 0))
                    continue;
                const struct token *name = &statement.name;
                if (statement.keep_first && statement.defines && name->size) {
                    if (lk_map_get(&kept, name->start, name->size))
                        continue;
                    lk_map_put(&kept, name->start, name->size, &kept);
                }
                emit(&out, &statement, &locals, i);
            }
            lk_map_free(&locals);
        }
    }
    lk_map_free(&kept);
    lk_buf_add(&out, "", 0);
    *size = out.size;
    return out.data ? out.data : lk_alloc_zeroed(1);
}
