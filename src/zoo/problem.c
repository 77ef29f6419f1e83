/*
 * problem.c: problems as text: "n=1M op=max,min dist=special seed=3" and back.
 */
#include "zoo/zoo.h"

#include "base/arena.h"
#include "base/buf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PROBLEMS = 100000 };

struct zoo_problem zoo_problem_normal(const struct zoo_family *family)
{
    struct zoo_problem problem = {.family = family, .seed = 1};
    for (size_t i = 0; family->parameters[i].name; i++)
        problem.value[i] = family->parameters[i].normal;
    return problem;
}

static int find_word(const char *const *words, const char *text, size_t length)
{
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == length && strncmp(words[i], text, length) == 0)
            return i;
    return -1;
}

static void list_words(struct lk_buf *text, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        lk_buf_printf(text, "%s%s", i ? ", " : "", words[i]);
}

bool zoo_parse_count(const char *text, size_t length, int64_t *value)
{
    char *end;
    if (length == 0 || !(isdigit((unsigned char)*text) || *text == '-'))
        return false;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    unsigned shift = 0;
    static const char endings[] = "KMG";
    const char *ending =
        end < text + length && *end ? strchr(endings, toupper((unsigned char)*end)) : NULL;
    if (ending) {
        shift = 10 * (unsigned)(ending - endings + 1);
        end++;
    }
    if (errno || end != text + length || number > INT64_MAX >> shift || number < INT64_MIN >> shift)
        return false;
    *value = number * ((int64_t)1 << shift);
    return true;
}

/* 0.5, -1e3: numbers that are not whole. */
static bool parse_float(const char *text, size_t length, int64_t *value)
{
    char copy[64], *end;
    int64_t whole;
    if (length == 0 || length >= sizeof copy || zoo_parse_count(text, length, &whole))
        return false;
    snprintf(copy, sizeof copy, "%.*s", (int)length, text);
    *value = zoo_from_float(strtof(copy, &end));
    return !*end;
}

/* One value of one parameter; a message was written if false. */
static bool set_parameter(const struct zoo_parameter *parameter, const char *text, size_t length,
                          int64_t *value, struct lk_buf *message)
{
    if (parameter->words) {
        *value = find_word(parameter->words, text, length);
        if (*value >= 0)
            return true;
        lk_buf_printf(message, "%s=%.*s: %s is one of ", parameter->name, (int)length, text,
                      parameter->name);
        list_words(message, parameter->words);
        return false;
    }
    if (parameter->scalar && parse_float(text, length, value))
        return true;
    if (!zoo_parse_count(text, length, value)) {
        lk_buf_printf(message,
                      "%s=%.*s is not a number; write 1000, 64K, 16M or 1G (powers of 1024)",
                      parameter->name, (int)length, text);
        return false;
    }
    if (*value >= parameter->least && *value <= parameter->most)
        return true;
    lk_buf_printf(message, "%s=%.*s: %s goes from %lld to %lld", parameter->name, (int)length, text,
                  parameter->name, (long long)parameter->least, (long long)parameter->most);
    return false;
}

/* One value of one key of a problem: a parameter, dist or seed. */
static bool set_value(struct zoo_problem *problem, const char *key, size_t key_length,
                      const char *text, size_t length, struct lk_buf *message)
{
    const struct zoo_family *family = problem->family;
    for (size_t i = 0; family->parameters[i].name; i++)
        if (strlen(family->parameters[i].name) == key_length &&
            strncmp(family->parameters[i].name, key, key_length) == 0)
            return set_parameter(&family->parameters[i], text, length, &problem->value[i], message);
    if (key_length == 4 && strncmp(key, "seed", 4) == 0) {
        const struct zoo_parameter seed = {"seed", "", 0, INT64_MAX, 1, NULL, false};
        int64_t value;
        bool fine = set_parameter(&seed, text, length, &value, message);
        problem->seed = fine ? (uint64_t)value : 0;
        return fine;
    }
    if (key_length == 4 && strncmp(key, "dist", 4) == 0) {
        int found = find_word(family->distributions, text, length);
        problem->distribution = (unsigned)found;
        if (found < 0) {
            lk_buf_printf(message, "dist=%.*s: dist is one of ", (int)length, text);
            list_words(message, family->distributions);
        }
        return found >= 0;
    }
    lk_buf_printf(message, "%.*s: %s has the parameters ", (int)key_length, key, family->name);
    for (size_t i = 0; family->parameters[i].name; i++)
        lk_buf_printf(message, "%s, ", family->parameters[i].name);
    lk_buf_printf(message, "dist and seed");
    return false;
}

/* Every problem of list with every value of "key=v,v,v". */
static bool multiply(struct zoo_problem **list, size_t *count, const char *word, size_t length,
                     struct lk_buf *message)
{
    const char *equals = memchr(word, '=', length), *end = word + length;
    if (!equals) {
        lk_buf_printf(message, "%.*s: write name=value, as in n=1M", (int)length, word);
        return false;
    }
    size_t values = 1, made = 0;
    for (const char *at = equals; at < end; at++)
        values += *at == ',';
    if (*count * values > MAX_PROBLEMS) {
        lk_buf_printf(message, "these are more than %d problems", MAX_PROBLEMS);
        return false;
    }
    struct zoo_problem *product = lk_alloc(*count * values * sizeof *product);
    for (size_t i = 0; i < *count; i++)
        for (const char *value = equals + 1; value <= end;) {
            const char *comma = memchr(value, ',', (size_t)(end - value));
            size_t size = (size_t)((comma ? comma : end) - value);
            product[made] = (*list)[i];
            if (!set_value(&product[made++], word, (size_t)(equals - word), value, size, message)) {
                free(product);
                return false;
            }
            value += size + 1;
        }
    free(*list);
    *list = product;
    *count = made;
    return true;
}

struct zoo_problem *zoo_problems(const struct zoo_family *family, const char *text, size_t *count,
                                 char **message)
{
    struct lk_buf wrong = {0};
    struct zoo_problem *list = lk_alloc(sizeof *list);
    list[0] = zoo_problem_normal(family);
    *count = 1;
    *message = NULL;
    while (*(text += strspn(text, " \t"))) {
        size_t length = strcspn(text, " \t");
        if (!multiply(&list, count, text, length, &wrong)) {
            *message = wrong.data;
            free(list);
            return NULL;
        }
        text += length;
    }
    return list;
}

struct zoo_problem *zoo_problem_list(const struct zoo_family *family, const char *const *texts,
                                     size_t *count, char **message)
{
    struct zoo_problem *all = NULL;
    *count = 0;
    for (; *texts; texts++) {
        size_t more;
        struct zoo_problem *some = zoo_problems(family, *texts, &more, message);
        if (!some) {
            free(all);
            return NULL;
        }
        all = lk_realloc(all, (*count + more) * sizeof *all);
        memcpy(all + *count, some, more * sizeof *all);
        *count += more;
        free(some);
    }
    return all;
}

static void print_count(struct lk_buf *text, int64_t value)
{
    static const char endings[] = "GMK";
    for (unsigned i = 0; i < 3; i++) {
        int64_t unit = (int64_t)1 << (30 - 10 * i);
        if (value >= unit && value % unit == 0) {
            lk_buf_printf(text, "%lld%c", (long long)(value / unit), endings[i]);
            return;
        }
    }
    lk_buf_printf(text, "%lld", (long long)value);
}

void zoo_problem_print(const struct zoo_problem *problem, struct lk_buf *text)
{
    const struct zoo_parameter *parameter = problem->family->parameters;
    for (size_t i = 0; parameter[i].name; i++) {
        lk_buf_printf(text, "%s%s=", i ? " " : "", parameter[i].name);
        if (parameter[i].words)
            lk_buf_printf(text, "%s", parameter[i].words[problem->value[i]]);
        else if (parameter[i].scalar && problem->value[i] >= ZOO_FLOAT)
            lk_buf_printf(text, "%.9g", (double)zoo_as_float(problem->value[i]));
        else
            print_count(text, problem->value[i]);
    }
    if (problem->distribution)
        lk_buf_printf(text, " dist=%s", problem->family->distributions[problem->distribution]);
    if (problem->seed != 1)
        lk_buf_printf(text, " seed=%llu", (unsigned long long)problem->seed);
}

int64_t zoo_value(const struct zoo_problem *problem, const char *name)
{
    const struct zoo_parameter *parameter = problem->family->parameters;
    for (size_t i = 0; parameter[i].name; i++)
        if (strcmp(parameter[i].name, name) == 0)
            return problem->value[i];
    fprintf(stderr, "lockstep: %s declares no parameter '%s'\n", problem->family->name, name);
    abort();
}

size_t zoo_buffer_bytes(const struct zoo_buffer *buffer)
{
    return buffer->count * zoo_type_bytes[buffer->type];
}
