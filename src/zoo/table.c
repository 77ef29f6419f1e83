/*
 * table.c: rows and what fits them; table_read.c fills tables from JSON. See table.h.
 */
#include "zoo/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DISTANCE = 5 }; /* a factor of 32 */

/* Conditions ------------------------------------------------------------------------------------*/

static int find_parameter(const struct zoo_family *family, const char *name, size_t length)
{
    for (int i = 0; family->parameters[i].name; i++)
        if (strlen(family->parameters[i].name) == length &&
            strncmp(family->parameters[i].name, name, length) == 0)
            return i;
    return -1;
}

/* "sum,max" */
static bool parse_words(struct zoo_condition *condition, const char *const *words, const char *text,
                        size_t length)
{
    for (const char *end = text + length; text <= end;) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        size_t size = (size_t)((comma ? comma : end) - text);
        unsigned i = 0;
        while (words[i] && (strlen(words[i]) != size || strncmp(words[i], text, size) != 0))
            i++;
        if (!words[i] || i >= 64)
            return false;
        condition->words |= (uint64_t)1 << i;
        text += size + 1;
    }
    return true;
}

/* "5", "1K..", "..16M", "1K..16M" */
static bool parse_range(struct zoo_condition *condition, const char *text, size_t length)
{
    const char *dots = memmem(text, length, "..", 2);
    condition->least = 0;
    condition->most = INT64_MAX;
    if (!dots) {
        bool fine = zoo_parse_count(text, length, &condition->least);
        condition->most = condition->least;
        return fine;
    }
    size_t before = (size_t)(dots - text), after = length - before - 2;
    return (before == 0 || zoo_parse_count(text, before, &condition->least)) &&
           (after == 0 || zoo_parse_count(dots + 2, after, &condition->most)) &&
           condition->least <= condition->most;
}

static bool parse_condition(struct zoo_row *row, const char *word, size_t length)
{
    const char *equals = memchr(word, '=', length);
    if (!equals || row->condition_count == ZOO_CONDITIONS)
        return false;
    size_t name = (size_t)(equals - word), rest = length - name - 1;
    struct zoo_condition *condition = &row->condition[row->condition_count++];
    *condition = (struct zoo_condition){.parameter = find_parameter(row->family, word, name)};
    if (condition->parameter < 0 && (name != 5 || strncmp(word, "bytes", 5) != 0))
        return false;
    const char *const *words =
        condition->parameter < 0 ? NULL : row->family->parameters[condition->parameter].words;
    return words ? parse_words(condition, words, equals + 1, rest)
                 : parse_range(condition, equals + 1, rest);
}

bool zoo_parse_where(struct zoo_row *row, const char *text, struct lk_buf *wrong)
{
    while (*(text += strspn(text, " "))) {
        size_t length = strcspn(text, " ");
        if (!parse_condition(row, text, length)) {
            lk_buf_printf(wrong, "'%.*s' is not a condition of %s", (int)length, text,
                          row->family->name);
            return false;
        }
        text += length;
    }
    return true;
}

static bool fits(const struct zoo_row *row, const struct zoo_problem *problem)
{
    for (unsigned i = 0; i < row->condition_count; i++) {
        const struct zoo_condition *condition = &row->condition[i];
        int64_t value;
        if (condition->parameter >= 0) {
            value = problem->value[condition->parameter];
        } else {
            double bytes = problem->family->bytes(problem);
            value = bytes < 0x1p62 ? (int64_t)bytes : (int64_t)1 << 62;
        }
        if (condition->words ? !(condition->words >> value & 1)
                             : value < condition->least || value > condition->most)
            return false;
    }
    return true;
}

/* Sizes alone: scalars do not change which kernel is best. */
double zoo_row_distance(const struct zoo_row *row, const struct zoo_problem *problem)
{
    const struct zoo_parameter *parameter = problem->family->parameters;
    double distance = 0;
    if (!fits(row, problem))
        return -1;
    for (unsigned i = 0; *row->measured && parameter[i].name; i++)
        if (!parameter[i].words && !parameter[i].scalar)
            distance +=
                fabs(log2((double)(problem->value[i] + 1) / (double)(row->near.value[i] + 1)));
    return distance <= MOST_DISTANCE ? distance : -1;
}

/* Choosing --------------------------------------------------------------------------------------*/

static bool usable(const struct zoo_variant *variant, const struct zoo_tuning *tuning,
                   const struct zoo_device *device, const struct zoo_problem *problem,
                   struct zoo_demand demand)
{
    const struct zoo_source *source = zoo_source(problem->family, variant);
    return variant->launch && source && zoo_runs_on(source, device->arch) &&
           (!demand.deterministic || variant->traits & ZOO_DETERMINISTIC) &&
           (demand.aligned_too || problem->family->aligned || !(variant->traits & ZOO_ALIGNED)) &&
           !(variant->traits & ZOO_FOR_SHOW) && zoo_takes(variant, problem) &&
           zoo_fits(device, variant, tuning, problem);
}

static const struct zoo_row *nearest_row(const struct zoo_table *table,
                                         const struct zoo_device *device,
                                         const struct zoo_problem *problem,
                                         struct zoo_demand demand)
{
    const struct zoo_row *nearest = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < table->count; i++) {
        const struct zoo_row *row = &table->rows[i];
        if (nearest && row->table != nearest->table)
            break;
        if (row->family != problem->family || row->broken)
            continue;
        double distance = zoo_row_distance(row, problem);
        if (distance >= 0 && distance < least &&
            usable(row->variant, &row->tuning, device, problem, demand)) {
            nearest = row;
            least = distance;
        }
    }
    return nearest;
}

bool zoo_choose(const struct zoo_table *table, const struct zoo_device *device,
                const struct zoo_problem *problem, struct zoo_demand demand,
                struct zoo_choice *choice)
{
    const struct zoo_row *row = nearest_row(table, device, problem, demand);
    *choice = (struct zoo_choice){.row = row};
    if (row) {
        choice->variant = row->variant;
        choice->tuning = row->tuning;
        return true;
    }
    /* Variants go from naive to the limit. */
    for (const struct zoo_variant *variant = problem->family->variants; variant->name; variant++)
        if (usable(variant, NULL, device, problem, demand))
            choice->variant = variant;
    if (choice->variant)
        choice->tuning = zoo_tuning_normal(zoo_source(problem->family, choice->variant));
    return choice->variant != NULL;
}

struct zoo_tuning zoo_tuning_at_launch(const struct zoo_table *table,
                                       const struct zoo_variant *variant,
                                       const struct zoo_problem *problem)
{
    const struct zoo_source *source = zoo_source(problem->family, variant);
    struct zoo_tuning tuning = zoo_tuning_normal(source);
    const struct zoo_row *nearest = NULL;
    double least = ZOO_VERY_NEAR;
    for (size_t i = 0; i < table->count; i++) {
        const struct zoo_row *row = &table->rows[i];
        double distance =
            row->variant == variant && !row->broken ? zoo_row_distance(row, problem) : -1;
        if (distance >= 0 && distance <= least && (!nearest || distance < least)) {
            nearest = row;
            least = distance;
        }
    }
    for (unsigned i = source->written_count; nearest && i < source->tunable_count; i++)
        tuning.value[i] = nearest->tuning.value[i];
    return tuning;
}

void zoo_table_free(struct zoo_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct zoo_row *row = &table->rows[i];
        free(row->where);
        free(row->ptx);
        free(row->origin);
        free(row->measured);
    }
    free(table->rows);
    lk_buf_free(&table->remarks);
    *table = (struct zoo_table){0};
}
