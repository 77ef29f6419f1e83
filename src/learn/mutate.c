/*
 * mutate.c: finds the places of a kernel's text where a mistake can be put; see mutate.h. It reads
 * tokens and no grammar: a mutant that does not compile is noticed when it is graded.
 */
#include "learn/mutate.h"

#include "base/buf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *source, *at;
    const char *line_start;
    unsigned line;
    bool is_shared;        /* in a declaration of a __shared__ array */
    unsigned depth;        /* of brackets */
    bool is_declared[8];   /* is this bracket of a declaration? */
    const char *opened[8]; /* after its '[' */
    char last[64];         /* the last word or sign before .at, */
    char before_last[64];  /* and the one before it */
    struct mutant *found;
    size_t count, capacity;
};

static void add(struct reader *reader, enum mutant_kind kind, const char *from, size_t length,
                const char *put, const char *what)
{
    if (reader->count == reader->capacity) {
        reader->capacity = reader->capacity ? 2 * reader->capacity : 32;
        reader->found = lk_realloc(reader->found, reader->capacity * sizeof *reader->found);
    }
    struct mutant *mutant = &reader->found[reader->count++];
    *mutant = (struct mutant){.kind = kind,
                              .line = reader->line,
                              .column = (unsigned)(from - reader->line_start) + 1,
                              .at = (size_t)(from - reader->source),
                              .length = length};
    snprintf(mutant->put, sizeof mutant->put, "%s", put);
    snprintf(mutant->name, sizeof mutant->name, "%u:%u %s", mutant->line, mutant->column, what);
}

static void add_change(struct reader *reader, enum mutant_kind kind, const char *from,
                       const char *old, const char *put)
{
    char what[100];
    snprintf(what, sizeof what, "%s to %s", old, put);
    add(reader, kind, from, strlen(old), put, what);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Skips what is not code; true if there was something. */
static bool skip(struct reader *reader)
{
    const char *at = reader->at;
    if (*at == '\n') {
        reader->line++;
        reader->line_start = at + 1;
        reader->at++;
    } else if (isspace((unsigned char)*at)) {
        reader->at++;
    } else if (strncmp(at, "//", 2) == 0 || *at == '#') {
        reader->at += strcspn(at, "\n");
    } else if (strncmp(at, "/*", 2) == 0) {
        const char *end = strstr(at + 2, "*/");
        end = end ? end + 2 : at + strlen(at);
        for (; reader->at < end; reader->at++)
            if (*reader->at == '\n') {
                reader->line++;
                reader->line_start = reader->at + 1;
            }
    } else if (*at == '"' || *at == '\'') {
        for (reader->at++; *reader->at && *reader->at != *at && *reader->at != '\n'; reader->at++)
            if (*reader->at == '\\' && reader->at[1])
                reader->at++;
        reader->at += *reader->at == *at;
    } else {
        return false;
    }
    return true;
}

static void keep(struct reader *reader, const char *token, size_t length)
{
    memcpy(reader->before_last, reader->last, sizeof reader->last);
    snprintf(reader->last, sizeof reader->last, "%.*s", (int)length, token);
}

/* Words -----------------------------------------------------------------------------------------*/

static void read_word(struct reader *reader)
{
    static const char *const swaps[][2] = {{"threadIdx.x", "threadIdx.y"},
                                           {"threadIdx.y", "threadIdx.x"},
                                           {"blockIdx.x", "blockIdx.y"},
                                           {"blockIdx.y", "blockIdx.x"}};
    static const char *const barriers[] = {"__syncthreads();", "__syncwarp();"};
    const char *at = reader->at;
    size_t length = 0;
    while (is_word(at[length]))
        length++;
    for (size_t i = 0; i < sizeof swaps / sizeof *swaps; i++) {
        size_t size = strlen(swaps[i][0]);
        if (strncmp(at, swaps[i][0], size) == 0 && !is_word(at[size])) {
            add_change(reader, MUTANT_AXIS, at, swaps[i][0], swaps[i][1]);
            length = size;
        }
    }
    for (size_t i = 0; i < sizeof barriers / sizeof *barriers; i++)
        if (strncmp(at, barriers[i], strlen(barriers[i])) == 0) {
            char what[40];
            snprintf(what, sizeof what, "%s dropped", barriers[i]);
            add(reader, MUTANT_BARRIER, at, strlen(barriers[i]), ";", what);
        }
    reader->is_shared = reader->is_shared || strncmp(at, "__shared__", 10) == 0;
    keep(reader, at, length);
    reader->at += length;
}

/* Brackets --------------------------------------------------------------------------------------*/

/* "float part[4]" declares, "sum + part[4]" does not; "a[1][2]" goes on with what a is. */
static bool declares(const struct reader *reader, const char *open)
{
    static const char *const others[] = {"return", "else", "case"};
    if (open > reader->source && open[-1] == ']')
        return reader->depth < 8 && reader->is_declared[reader->depth];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(reader->before_last, others[i]) == 0)
            return false;
    return reader->is_shared || is_word(reader->before_last[0]);
}

static void open_bracket(struct reader *reader)
{
    if (reader->depth < 8) {
        reader->is_declared[reader->depth] = declares(reader, reader->at);
        reader->opened[reader->depth] = reader->at + 1;
    }
    reader->depth++;
}

/* [33] to [32], [N + 1] to [N]: an array that is a little longer than a round number. */
static void add_padding(struct reader *reader, const char *from, size_t length)
{
    char *end, put[24], old[24];
    unsigned long extent = strtoul(from, &end, 10);
    if (length > 4 && strncmp(from + length - 4, " + 1", 4) == 0) {
        add(reader, MUTANT_PADDING, from + length - 4, 4, "", "no padding");
    } else if (end == from + length && extent > 8 && extent % 8 == 1) {
        snprintf(old, sizeof old, "%lu", extent);
        snprintf(put, sizeof put, "%lu", extent - 1);
        add_change(reader, MUTANT_PADDING, from, old, put);
    }
}

static void close_bracket(struct reader *reader)
{
    if (reader->depth == 0)
        return;
    reader->depth--;
    if (reader->depth >= 8)
        return;
    const char *from = reader->opened[reader->depth];
    size_t length = (size_t)(reader->at - from);
    if (!reader->is_declared[reader->depth])
        add(reader, MUTANT_INDEX, reader->at, 0, " + 1", "one further");
    else if (reader->is_shared)
        add_padding(reader, from, length);
}

/* Signs -----------------------------------------------------------------------------------------*/

static void read_sign(struct reader *reader)
{
    static const char *const signs[] = {"<<=", ">>=", "<<", ">>", "->", "<=", ">=", "+=", "<", ">"};
    static const char *const bounds[][2] = {{"<", "<="}, {"<=", "<"}, {">", ">="}, {">=", ">"}};
    const char *at = reader->at;
    size_t length = 1;
    for (size_t i = sizeof signs / sizeof *signs; i-- > 0;)
        if (strncmp(at, signs[i], strlen(signs[i])) == 0)
            length = strlen(signs[i]);
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (length == strlen(bounds[i][0]) && strncmp(at, bounds[i][0], length) == 0)
            add_change(reader, MUTANT_BOUND, at, bounds[i][0], bounds[i][1]);
    if (length == 2 && strncmp(at, "+=", 2) == 0)
        add_change(reader, MUTANT_SUM, at, "+=", "=");
    if (*at == '[')
        open_bracket(reader);
    else if (*at == ']')
        close_bracket(reader);
    else if (*at == ';')
        reader->is_shared = false;
    keep(reader, at, length);
    reader->at += length;
}

struct mutant *mutants_find(const char *source, size_t *count)
{
    struct reader reader = {.source = source, .at = source, .line_start = source, .line = 1};
    while (*reader.at)
        if (!skip(&reader)) {
            if (is_word(*reader.at))
                read_word(&reader);
            else
                read_sign(&reader);
        }
    *count = reader.count;
    return reader.found;
}

void mutants_free(struct mutant *mutants, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(mutants[i].whole);
    free(mutants);
}

char *mutant_apply(const char *source, const struct mutant *mutant)
{
    if (mutant->whole)
        return strdup(mutant->whole);
    return lk_format("%.*s%s%s", (int)mutant->at, source, mutant->put,
                     source + mutant->at + mutant->length);
}
