/*
 * demangle.c: names of C++ kernels as their authors write them, without parameters.
 * The common part of the Itanium ABI: names, nested names, templates with types and numbers. What
 * is not understood (lambdas, expressions) is left as it is.
 */
#include "report/profile.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { DEMANGLE_DEPTH = 32, DEMANGLE_SUBSTITUTIONS = 64 };

struct demangle {
    struct lk_arena *arena;
    const char *at;
    const char *seen[DEMANGLE_SUBSTITUTIONS];
    unsigned seen_count, depth;
};

static const char *type(struct demangle *d);
static const char *template_arguments(struct demangle *d);

static bool take(struct demangle *d, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(d->at, word, length) != 0)
        return false;
    d->at += length;
    return true;
}

static const char *remember(struct demangle *d, const char *text)
{
    if (text && d->seen_count < DEMANGLE_SUBSTITUTIONS)
        d->seen[d->seen_count++] = text;
    return text;
}

/* <length><name> */
static const char *source_name(struct demangle *d)
{
    char *end;
    if (!isdigit((unsigned char)*d->at))
        return NULL;
    unsigned long length = strtoul(d->at, &end, 10);
    if (length == 0 || strnlen(end, length) < length)
        return NULL;
    d->at = end + length;
    if (length > 10 && strncmp(end, "_GLOBAL__N", 10) == 0)
        return "(anonymous namespace)";
    return lk_arena_strndup(d->arena, end, length);
}

/* S_, S0_ .., St and the other names of std. */
static const char *substitution(struct demangle *d)
{
    static const struct {
        const char *code, *name;
    } names[] = {{"Sa", "std::allocator"}, {"Sb", "std::basic_string"}, {"Ss", "std::string"},
                 {"Si", "std::istream"},   {"So", "std::ostream"},      {"Sd", "std::iostream"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (take(d, names[i].code))
            return names[i].name;
    const char *from = d->at + 1;
    unsigned index = 0;
    if (*from != '_') {
        for (; isdigit((unsigned char)*from) || isupper((unsigned char)*from); from++)
            index = index * 36 +
                    (unsigned)(isdigit((unsigned char)*from) ? *from - '0' : *from - 'A' + 10);
        index++;
    }
    if (*from != '_' || index >= d->seen_count)
        return NULL;
    d->at = from + 1;
    return d->seen[index];
}

/* N [cv] prefix.. E */
static const char *nested_name(struct demangle *d)
{
    const char *name = NULL;
    while (*d->at == 'K' || *d->at == 'V' || *d->at == 'r')
        d->at++;
    while (!take(d, "E")) {
        const char *part;
        bool known = false;
        if (*d->at == 'I' && name) {
            part = template_arguments(d);
            name = part ? lk_arena_printf(d->arena, "%s%s", name, part) : NULL;
        } else if (take(d, "St")) {
            name = "std";
            known = true;
        } else if (*d->at == 'S') {
            name = substitution(d);
            known = true;
        } else {
            (void)take(d, "L");
            part = source_name(d);
            name = !part ? NULL : name ? lk_arena_printf(d->arena, "%s::%s", name, part) : part;
        }
        if (!name)
            return NULL;
        if (!known && *d->at != 'E')
            remember(d, name);
    }
    return name;
}

static const char *any_name(struct demangle *d)
{
    const char *name;
    if (take(d, "N"))
        return nested_name(d);
    if (take(d, "St")) {
        const char *part = source_name(d);
        name = part ? lk_arena_printf(d->arena, "std::%s", part) : NULL;
    } else if (*d->at == 'S') {
        name = substitution(d);
    } else {
        (void)take(d, "L"); /* static */
        name = source_name(d);
    }
    if (name && *d->at == 'I') {
        remember(d, name);
        const char *arguments = template_arguments(d);
        name = arguments ? lk_arena_printf(d->arena, "%s%s", name, arguments) : NULL;
    }
    return name;
}

static const char *builtin_type(struct demangle *d)
{
    static const struct {
        const char *code, *name;
    } types[] = {{"v", "void"},
                 {"b", "bool"},
                 {"c", "char"},
                 {"a", "signed char"},
                 {"h", "unsigned char"},
                 {"s", "short"},
                 {"t", "unsigned short"},
                 {"i", "int"},
                 {"j", "unsigned int"},
                 {"l", "long"},
                 {"m", "unsigned long"},
                 {"x", "long long"},
                 {"y", "unsigned long long"},
                 {"n", "__int128"},
                 {"o", "unsigned __int128"},
                 {"f", "float"},
                 {"d", "double"},
                 {"w", "wchar_t"},
                 {"Dh", "half"},
                 {"Ds", "char16_t"},
                 {"Di", "char32_t"},
                 {"Dn", "std::nullptr_t"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (take(d, types[i].code))
            return types[i].name;
    return NULL;
}

static const char *type_inside(struct demangle *d)
{
    static const struct {
        const char *code, *mark;
    } marks[] = {{"P", "*"}, {"R", "&"}, {"O", "&&"}, {"K", " const"}, {"V", " volatile"}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (take(d, marks[i].code)) {
            const char *of = type(d);
            return of ? remember(d, lk_arena_printf(d->arena, "%s%s", of, marks[i].mark)) : NULL;
        }
    const char *name = builtin_type(d);
    if (name)
        return name;
    bool is_substitution = *d->at == 'S' && d->at[1] != 't';
    const char *before = d->at;
    name = any_name(d);
    /* A bare substitution is in the list already. */
    if (name && !(is_substitution && d->at - before <= 3))
        remember(d, name);
    return name;
}

static const char *type(struct demangle *d)
{
    if (++d->depth > DEMANGLE_DEPTH)
        return NULL;
    const char *text = type_inside(d);
    d->depth--;
    return text;
}

/* L <type> <value> E */
static const char *literal(struct demangle *d)
{
    if (take(d, "b0E"))
        return "false";
    if (take(d, "b1E"))
        return "true";
    const char *of = type(d);
    bool negative = take(d, "n");
    const char *from = d->at;
    while (isdigit((unsigned char)*d->at))
        d->at++;
    size_t length = (size_t)(d->at - from);
    if (!of || !length || !take(d, "E"))
        return NULL;
    bool plain = strcmp(of, "int") == 0 || strstr(of, "long") || strstr(of, "short") ||
                 strstr(of, "unsigned") || strstr(of, "char");
    return lk_arena_printf(d->arena, "%s%s%s%s%.*s", plain ? "" : "(", plain ? "" : of,
                           plain ? "" : ")", negative ? "-" : "", (int)length, from);
}

/* I .. E as "<a, b>" */
static const char *template_arguments(struct demangle *d)
{
    const char *all = "";
    if (++d->depth > DEMANGLE_DEPTH || !take(d, "I"))
        return NULL;
    unsigned packs = 0;
    for (;;) {
        if (take(d, "J")) {
            packs++;
            continue;
        }
        if (take(d, "E")) {
            if (!packs)
                break;
            packs--;
            continue;
        }
        const char *one = take(d, "L") ? literal(d) : type(d);
        if (!one)
            return NULL;
        all = lk_arena_printf(d->arena, "%s%s%s", all, *all ? ", " : "", one);
    }
    d->depth--;
    return lk_arena_printf(d->arena, "<%s>", all);
}

const char *profile_demangle(struct lk_arena *arena, const char *mangled)
{
    struct demangle d = {.arena = arena, .at = mangled};
    if (!take(&d, "_Z"))
        return mangled;
    const char *name = any_name(&d);
    return name ? name : mangled;
}
