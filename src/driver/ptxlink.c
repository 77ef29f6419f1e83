/*
 * ptxlink.c: see ptxlink.h. It works on the text: the parser takes an .extern and its definition
 * in one text as the same thing, so a merge only has to
 *   - keep one header (.version, .target, .address_size), the one with the highest version;
 *   - rename what is local to a text (a "$str" each has) where another has that name too; other
 *     locals keep their names, by which the host asks for static variables and kernels;
 *   - keep one of several definitions, as a linker does: a strong one, else the first .weak one,
 *     else the largest .common one; the others become declarations;
 *   - renumber the source files of .file and .loc.
 */
#include "driver/ptxlink.h"
#include "driver/devicert.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
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
    bool header, is_extern, shared_name; /* visible or weak: all texts mean the same */
    bool is_weak, is_common, is_variable, is_entry;
    bool section, has_body; /* a function's, or an initialiser */
    struct token name;
    unsigned element;  /* variables: bytes of an element, */
    uint64_t elements; /* and how many */
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
    else if (is(token, ".weak"))
        statement->shared_name = statement->is_weak = true;
    else if (is(token, ".common"))
        statement->shared_name = statement->is_common = true;
    else if (is(token, ".entry"))
        statement->is_entry = true;
    else if (is(token, ".global") || is(token, ".const") || is(token, ".shared"))
        statement->is_variable = true;
}

/* .v4 .f32 x[2][3]: 16 bytes, six times. before: the token before this one. */
static void note_size(struct statement *statement, const struct token *token,
                      const struct token *before)
{
    static const char kinds[] = "bufs";
    if (token->kind == NUMBER && before->size == 1 && *before->start == '[')
        statement->elements *= strtoull(token->start, NULL, 0);
    if (token->kind != DIRECTIVE || token->size < 3)
        return;
    unsigned number = (unsigned)strtoul(token->start + 2, NULL, 10);
    if (token->start[1] == 'v' && number && number <= 8)
        statement->elements *= number;
    else if (strchr(kinds, token->start[1]) && number >= 8 && number <= 128)
        statement->element = number / 8;
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
    *statement = (struct statement){.elements = 1};
    struct token token = next_token(s), before = {0};
    statement->start = token.start;
    bool file = is(&token, ".file");
    int braces = 0, parens = 0;
    for (; token.kind != END; before = token, token = next_token(s)) {
        if (braces == 0 && parens == 0)
            note_head(statement, &token);
        if (braces == 0 && !statement->has_body)
            note_size(statement, &token, &before);
        bool value = before.size && (is(&before, ".align") || is(&before, "="));
        if (token.kind == WORD && !braces && !parens && !value && !statement->name.size)
            statement->name = token;
        char c = token.kind == SIGN ? *token.start : 0;
        parens += (c == '(') - (c == ')');
        if (c == '=' || c == '{')
            statement->has_body = true;
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

/* Names that more than one text has. */
static void find_common(const char *text, size_t size, struct lk_map *seen, struct lk_map *common)
{
    struct scanner s = {text, text + size};
    struct statement statement;
    while (next_statement(&s, &statement)) {
        const struct token *name = &statement.name;
        if (!name->size || statement.header || statement.section)
            continue;
        const char *other = lk_map_get(seen, name->start, name->size);
        if (!other)
            lk_map_put(seen, name->start, name->size, (void *)(uintptr_t)text);
        else if (other != text)
            lk_map_put(common, name->start, name->size, common);
    }
}

/* Names that this text does not share with others, but others have too: locals, and labels of debug
 * sections. */
static void find_locals(const char *text, size_t size, struct lk_map *common, struct lk_map *locals)
{
    struct scanner s = {text, text + size};
    struct statement statement;
    while (next_statement(&s, &statement)) {
        if (statement.name.size && !statement.shared_name && !statement.header &&
            !statement.section && lk_map_get(common, statement.name.start, statement.name.size))
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

/* The statement as a declaration of what another text defines. */
static void emit_declaration(struct lk_buf *out, const struct statement *statement)
{
    struct scanner s = {statement->start, statement->end};
    if (statement->is_entry) /* nobody calls it */
        return;
    lk_buf_printf(out, ".extern");
    for (struct token t = next_token(&s); t.kind != END; t = next_token(&s)) {
        if (is(&t, "=") || is(&t, "{") || is(&t, ";"))
            break;
        if (!is(&t, ".weak") && !is(&t, ".common") && !is(&t, ".visible"))
            lk_buf_printf(out, " %.*s", (int)t.size, t.start);
    }
    lk_buf_printf(out, ";\n");
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

/* Definitions of one name -----------------------------------------------------------------------
 */

struct choice {
    const char *start; /* of the statement that stays */
    unsigned rank;
    uint64_t bytes;
    bool has_body;
};

static bool is_definition(const struct statement *statement)
{
    return statement->name.size && statement->shared_name && !statement->is_extern &&
           (statement->is_variable || statement->has_body);
}

static struct choice choice_of(const struct statement *statement)
{
    return (struct choice){.start = statement->start,
                           .rank = statement->is_common ? 0
                                   : statement->is_weak ? 1
                                                        : 2,
                           .bytes = statement->element * statement->elements,
                           .has_body = statement->has_body};
}

static bool is_better(const struct choice *new, const struct choice *old)
{
    if (new->rank != old->rank)
        return new->rank > old->rank;
    if (new->rank > 0)
        return false;
    return new->bytes != old->bytes ? new->bytes > old->bytes : new->has_body && !old->has_body;
}

static void choose(struct lk_arena *arena, const char *text, size_t size, struct lk_map *choices)
{
    struct scanner s = {text, text + size};
    struct statement statement;
    while (next_statement(&s, &statement)) {
        if (!is_definition(&statement))
            continue;
        struct choice found = choice_of(&statement);
        struct choice *old = lk_map_get(choices, statement.name.start, statement.name.size);
        if (!old)
            lk_map_put(choices, statement.name.start, statement.name.size,
                       lk_arena_dup(arena, &found, sizeof(found)));
        else if (is_better(&found, old))
            *old = found;
    }
}

/* Strong ones stay even if there are two: the parser says so. */
static bool gives_way(const struct statement *statement, struct lk_map *choices)
{
    const struct choice *choice =
        is_definition(statement) && (statement->is_weak || statement->is_common)
            ? lk_map_get(choices, statement->name.start, statement->name.size)
            : NULL;
    return choice && choice->start != statement->start;
}

static char *merge(const char *const *texts, const size_t *sizes, size_t count, size_t *size)
{
    struct lk_buf out = {0};
    struct lk_map choices = {0}, seen = {0}, common = {0};
    struct lk_arena *arena = lk_arena_create();
    size_t newest = 0;
    if (count == 1) {
        lk_buf_add(&out, texts[0], sizes[0]);
        *size = out.size;
        lk_arena_destroy(arena);
        return out.data;
    }
    for (size_t i = 0; i < count; i++)
        choose(arena, texts[i], sizes[i], &choices);
    for (size_t i = 0; i < count; i++)
        find_common(texts[i], sizes[i], &seen, &common);
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
            find_locals(texts[i], sizes[i], &common, &locals);
            while (next_statement(&s, &statement)) {
                if (statement.header != (pass == 0))
                    continue;
                if (gives_way(&statement, &choices))
                    emit_declaration(&out, &statement);
                else
                    emit(&out, &statement, &locals, i);
            }
            lk_map_free(&locals);
        }
    }
    lk_map_free(&choices);
    lk_map_free(&seen);
    lk_map_free(&common);
    lk_arena_destroy(arena);
    lk_buf_add(&out, "", 0);
    *size = out.size;
    return out.data ? out.data : lk_alloc_zeroed(1);
}

bool ptxlink_is_device_runtime(const char *text, size_t size)
{
    return memmem(text, size, DEVICERT_VENDORS_MARK, strlen(DEVICERT_VENDORS_MARK)) != NULL;
}

/* Without NVIDIA's device runtime, and with ours if a text calls it. */
char *ptxlink_merge(const char *const *texts, const size_t *sizes, size_t count, size_t *size)
{
    bool calls = false;
    const char **all = lk_alloc((count + 1) * sizeof *all);
    size_t *all_sizes = lk_alloc((count + 1) * sizeof *all_sizes), kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (ptxlink_is_device_runtime(texts[i], sizes[i]))
            continue;
        calls = calls || memmem(texts[i], sizes[i], DEVICERT_MARK, strlen(DEVICERT_MARK));
        all[kept] = texts[i];
        all_sizes[kept++] = sizes[i];
    }
    if (calls || !kept) {
        all[kept] = DEVICERT_TEXT;
        all_sizes[kept++] = strlen(DEVICERT_TEXT);
    }
    char *merged = merge(all, all_sizes, kept, size);
    free(all);
    free(all_sizes);
    return merged;
}
