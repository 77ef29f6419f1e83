/*
 * coverage.c: which rows of ops.def, with which types, the test files contain.
 * A row's type slots are those whose every choice is a type; a row has as many cases as they have
 * combinations, less exclusions.def. Rows of group UNSUPPORTED are not counted.
 */
#include "test.h"

#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *row, *types, *why;
} exclusions[] = {
#define EXCLUDE(row, types, why) {#row, types, why},
#include "exclusions.def"
#undef EXCLUDE
    {NULL, NULL, NULL}};

struct list {
    char (*items)[64];
    size_t count;
};

static void put(struct list *list, const char *text)
{
    list->items = realloc(list->items, (list->count + 1) * sizeof(*list->items));
    if (!list->items)
        abort();
    snprintf(list->items[list->count++], sizeof(*list->items), "%s", text);
}

static bool contains(const struct list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i], text))
            return true;
    return false;
}

static bool is_type(const char *text, size_t length)
{
    for (int t = PTX_TYPE_NONE + 1; t < PTX_TYPE_COUNT; t++) {
        const char *name = ptx_type_name(t);
        if (strlen(name) == length && !memcmp(name, text, length))
            return true;
    }
    return false;
}

/* Is text, of `x|y|z`, one of the words? `*` matches all. */
static bool one_of(const char *words, size_t length, const char *text, size_t text_length)
{
    if (length == 1 && *words == '*')
        return true;
    const char *end = words + length;
    while (words <= end) {
        const char *bar = memchr(words, '|', (size_t)(end - words));
        size_t n = (size_t)((bar ? bar : end) - words);
        if (n == text_length && !memcmp(words, text, n))
            return true;
        if (!bar)
            break;
        words = bar + 1;
    }
    return false;
}

/* types: "u32 f32"; the pattern has as many words. */
static bool matches(const char *pattern, const char *types)
{
    for (;;) {
        size_t n = strcspn(pattern, " "), m = strcspn(types, " ");
        if (!one_of(pattern, n, types, m) || (pattern[n] == 0) != (types[m] == 0))
            return false;
        if (!pattern[n])
            return true;
        pattern += n + 1;
        types += m + 1;
    }
}

static bool is_excluded(const char *row, const char *types)
{
    for (size_t i = 0; exclusions[i].row; i++)
        if (!strcmp(exclusions[i].row, row) && matches(exclusions[i].types, types))
            return true;
    return false;
}

/* Every combination of the type slots of suffixes, as "u32 f32". */
static struct list combinations(const char *suffixes)
{
    struct list all = {0};
    put(&all, "");
    for (const char *at = suffixes; *at;) {
        size_t n = strcspn(at, " ");
        const char *word = at, *end = at + n;
        at += n + (at[n] == ' ');
        if (*word == '[')
            continue;
        bool types = n > 0;
        for (const char *c = word; types && c < end; c += strcspn(c, "| ]") + 1)
            types = is_type(c, strcspn(c, "| "));
        if (!types)
            continue;
        struct list longer = {0};
        for (size_t i = 0; i < all.count; i++)
            for (const char *c = word; c < end; c += strcspn(c, "| ") + 1) {
                char text[64];
                snprintf(text, sizeof(text), "%s%s%.*s", all.items[i], *all.items[i] ? " " : "",
                         (int)strcspn(c, "| "), c);
                put(&longer, text);
            }
        free(all.items);
        all = longer;
    }
    return all;
}

static void note(struct list seen[], const struct ptx_inst *inst)
{
    char text[64] = "";
    for (unsigned i = 0; i < inst->type_count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "",
                 ptx_type_name(inst->types[i]));
    }
    if (!contains(&seen[inst->op], text))
        put(&seen[inst->op], text);
}

static bool note_file(struct list seen[], const char *path)
{
    struct test_file *file = test_read(path);
    if (!file)
        return false;
    char *message = NULL;
    struct ptx_module *module = ptx_parse(file->path, file->text, file->size, &message);
    bool good = module != NULL;
    if (!good) /* running it says why */
        printf("# the parser refuses %s\n", file->name);
    for (uint32_t f = 0; good && f < module->function_count; f++)
        for (uint32_t i = 0; i < module->functions[f]->inst_count; i++)
            note(seen, &module->functions[f]->insts[i]);
    free(message);
    if (module)
        ptx_free(module);
    test_free(file);
    return good;
}

bool test_coverage(char *const *paths, size_t count, bool verbose)
{
    static struct list seen[PTX_OP_COUNT];
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good &= note_file(seen, paths[i]);
    size_t total = 0, covered = 0, rows = 0, stopped = 0;
    for (int op = 0; op < PTX_OP_COUNT; op++) {
        const struct ptx_op_info *info = &ptx_op_infos[op];
        if (info->group == PTX_GROUP_UNSUPPORTED) {
            stopped++;
            if (!seen[op].count) {
                printf("# missing: %s (must stop with status 3)\n", info->name);
                good = false;
            }
            continue;
        }
        rows++;
        struct list all = combinations(info->suffixes);
        for (size_t i = 0; i < all.count; i++) {
            if (is_excluded(info->name, all.items[i]))
                continue;
            total++;
            if (contains(&seen[op], all.items[i])) {
                covered++;
            } else {
                good = false;
                printf("# missing: %s %s\n", info->name, all.items[i]);
            }
        }
        free(all.items);
        free(seen[op].items);
    }
    printf("# coverage: %zu of %zu cases of %zu rows (%.1f %%), %zu rows that must stop\n", covered,
           total, rows, total ? 100.0 * (double)covered / (double)total : 0, stopped);
    for (size_t i = 0; verbose && exclusions[i].row; i++)
        printf("# excluded: %s %s (%s)\n", exclusions[i].row, exclusions[i].types,
               exclusions[i].why);
    printf("%s coverage\n", good ? "ok" : "not ok");
    return good;
}
