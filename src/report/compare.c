/*
 * compare.c: two profiles side by side: time, what bounds it, and the counters that changed most.
 * Works on what `profile --json` prints, so that saved results can be compared too. Launches are
 * paired by name in launch order; the rest, in launch order.
 */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_COUNTERS = 12 };

struct pair {
    json_t *side[2]; /* NULL: there is none */
};

struct changed {
    const char *name;
    double value[2];
    double weight; /* how much it changed */
};

static const char *text_of(const json_t *launch, const char *key)
{
    const char *text = json_string_value(json_object_get(launch, key));
    return text ? text : "?";
}

static double number_of(const json_t *launch, const char *key)
{
    return json_number_value(json_object_get(launch, key));
}

/* Pairs -------------------------------------------------------------------------------------------
 */

static size_t first_free(json_t *list, const bool *taken, const char *name)
{
    size_t count = json_array_size(list), i = 0;
    while (i < count &&
           (taken[i] || (name && strcmp(text_of(json_array_get(list, i), "name"), name) != 0)))
        i++;
    return i;
}

static struct pair *find_pairs(json_t *const reports[2], size_t *count)
{
    json_t *a = json_object_get(reports[0], "kernels"), *b = json_object_get(reports[1], "kernels");
    size_t in_a = json_array_size(a), in_b = json_array_size(b);
    struct pair *pairs = lk_alloc_zeroed((in_a + in_b + 1) * sizeof(*pairs));
    bool *taken = lk_alloc_zeroed(in_b + 1);
    for (size_t i = 0; i < in_a; i++) {
        pairs[i].side[0] = json_array_get(a, i);
        size_t k = first_free(b, taken, text_of(pairs[i].side[0], "name"));
        taken[k] = true;
        pairs[i].side[1] = k < in_b ? json_array_get(b, k) : NULL;
    }
    for (size_t i = 0; i < in_a; i++)
        if (!pairs[i].side[1]) {
            size_t k = first_free(b, taken, NULL);
            taken[k] = true;
            pairs[i].side[1] = k < in_b ? json_array_get(b, k) : NULL;
        }
    *count = in_a;
    for (size_t k; (k = first_free(b, taken, NULL)) < in_b; taken[k] = true)
        pairs[(*count)++].side[1] = json_array_get(b, k);
    free(taken);
    return pairs;
}

/* Counters ----------------------------------------------------------------------------------------
 */

static int most_changed_first(const void *left, const void *right)
{
    const struct changed *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return strcmp(a->name, b->name);
}

static size_t find_changed(const struct pair *pair, struct changed *list, size_t room)
{
    json_t *before = json_object_get(pair->side[0], "counters"), *value;
    json_t *after = json_object_get(pair->side[1], "counters");
    const char *name;
    size_t count = 0;
    json_object_foreach(before, name, value)
    {
        struct changed one = {
            name, {json_number_value(value), json_number_value(json_object_get(after, name))}, 0};
        one.weight = fabs(log2((one.value[1] + 32) / (one.value[0] + 32)));
        if ((one.value[0] == 0 || one.value[1] == 0) && one.weight > 2)
            one.weight = 2; /* something new matters less than an eightfold increase */
        if (one.weight > 0.07 && count < room)
            list[count++] = one;
    }
    qsort(list, count, sizeof(*list), most_changed_first);
    return count;
}

/* Text --------------------------------------------------------------------------------------------
 */

static const char *ratio_words(char buf[48], double before, double after)
{
    if (before <= 0 || after <= 0 || fabs(before / after - 1) < 0.005)
        snprintf(buf, 48, "%s", before == after ? "same" : "");
    else if (after < before)
        snprintf(buf, 48, "%.3gx less", before / after);
    else
        snprintf(buf, 48, "%.3gx more", after / before);
    return buf;
}

static void print_pair(FILE *out, const struct report_paint *paint, const struct pair *pair,
                       size_t times)
{
    json_t *const *side = pair->side;
    char a[REPORT_UNIT], b[REPORT_UNIT], words[48];
    const char *names[2] = {side[0] ? text_of(side[0], "name") : NULL,
                            side[1] ? text_of(side[1], "name") : NULL};
    if (!names[0] || !names[1]) {
        json_t *only = side[0] ? side[0] : side[1];
        fprintf(out, "%s%s%s only in the %s: %s\n\n", paint->bold, text_of(only, "name"),
                paint->plain, side[0] ? "first" : "second",
                report_seconds(a, number_of(only, "time_us") / 1e6));
        return;
    }
    bool same = strcmp(names[0], names[1]) == 0;
    fprintf(out, "%s%s%s%s%s", paint->bold, names[0], same ? "" : " -> ", same ? "" : names[1],
            paint->plain);
    if (times > 1)
        fprintf(out, " x %zu", times);
    double before = number_of(side[0], "time_us"), after = number_of(side[1], "time_us");
    bool faster = after < before;
    fprintf(out, "\n  %-52s %9s -> %-9s %s%s%s\n", "time", report_seconds(a, before / 1e6),
            report_seconds(b, after / 1e6),
            fabs(before / after - 1) < 0.005 ? ""
            : faster                         ? paint->green
                                             : paint->red,
            ratio_words(words, before, after), paint->plain);
    fprintf(out, "  %-52s %9s -> %s\n", "bound by", text_of(side[0], "bound_by"),
            text_of(side[1], "bound_by"));
    fprintf(out, "  %-52s %7.0f %% -> %.0f %%\n", "of the roof", 100 * number_of(side[0], "roof"),
            100 * number_of(side[1], "roof"));
    fprintf(out, "  %-52s %7.0f %% -> %.0f %%\n", "occupancy",
            100 * number_of(json_object_get(side[0], "occupancy"), "occupancy"),
            100 * number_of(json_object_get(side[1], "occupancy"), "occupancy"));
    struct changed list[128];
    size_t count = find_changed(pair, list, 128);
    for (size_t i = 0; i < count && i < SHOWN_COUNTERS; i++)
        fprintf(out, "  %s%-52.52s%s %9s -> %-9s %s\n", paint->dim, list[i].name, paint->plain,
                report_count(a, list[i].value[0]), report_count(b, list[i].value[1]),
                ratio_words(words, list[i].value[0], list[i].value[1]));
    if (count > SHOWN_COUNTERS)
        fprintf(out, "  %sand %zu more counters, with --json%s\n", paint->dim,
                count - SHOWN_COUNTERS, paint->plain);
    fprintf(out, "\n");
}

static bool alike(const struct pair *a, const struct pair *b)
{
    for (int i = 0; i < 2; i++) {
        if (!a->side[i] || !b->side[i] ||
            strcmp(text_of(a->side[i], "name"), text_of(b->side[i], "name")) != 0 ||
            number_of(a->side[i], "time_us") != number_of(b->side[i], "time_us") ||
            !json_equal(json_object_get(a->side[i], "counters"),
                        json_object_get(b->side[i], "counters")))
            return false;
    }
    return true;
}

static double total(const json_t *report)
{
    double sum = 0;
    json_t *launch;
    size_t index;
    json_array_foreach(json_object_get(report, "kernels"), index, launch) sum +=
        number_of(launch, "time_us");
    return sum;
}

void report_compare_text(FILE *out, const struct report_paint *paint, const char *names[2],
                         json_t *const reports[2])
{
    size_t count;
    struct pair *pairs = find_pairs(reports, &count);
    char a[REPORT_UNIT], b[REPORT_UNIT], words[48];
    double before = total(reports[0]), after = total(reports[1]);
    fprintf(out, "%s -> %s, modelled on %s", names[0], names[1], text_of(reports[0], "gpu"));
    if (strcmp(text_of(reports[0], "gpu"), text_of(reports[1], "gpu")) != 0)
        fprintf(out, " and %s", text_of(reports[1], "gpu"));
    fprintf(out, "\nall kernels: %s -> %s, %s\n\n", report_seconds(a, before / 1e6),
            report_seconds(b, after / 1e6), ratio_words(words, before, after));
    for (size_t i = 0; i < count;) {
        size_t times = 1;
        while (i + times < count && alike(&pairs[i], &pairs[i + times]))
            times++;
        print_pair(out, paint, &pairs[i], times);
        i += times;
    }
    free(pairs);
}

/* JSON --------------------------------------------------------------------------------------------
 */

static json_t *pair_json(const struct pair *pair)
{
    json_t *object = json_object();
    if (pair->side[0] && pair->side[1]) {
        double before = number_of(pair->side[0], "time_us"),
               after = number_of(pair->side[1], "time_us");
        struct changed list[128];
        size_t count = find_changed(pair, list, 128);
        json_t *counters = json_object();
        for (size_t i = 0; i < count; i++)
            json_object_set_new(
                counters, list[i].name,
                json_pack("[II]", (json_int_t)list[i].value[0], (json_int_t)list[i].value[1]));
        json_object_set_new(object, "speedup", after > 0 ? json_real(before / after) : json_null());
        json_object_set_new(object, "counters", counters);
    }
    static const char *const keys[] = {"name", "launch", "time_us", "bound_by", "roof"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        json_t *both = json_array();
        for (int k = 0; k < 2; k++) {
            json_t *value = pair->side[k] ? json_object_get(pair->side[k], keys[i]) : NULL;
            json_array_append_new(both, value ? json_incref(value) : json_null());
        }
        json_object_set_new(object, keys[i], both);
    }
    return object;
}

json_t *report_compare_json(const char *names[2], json_t *const reports[2])
{
    size_t count;
    struct pair *pairs = find_pairs(reports, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, pair_json(&pairs[i]));
    free(pairs);
    return json_pack("{s[ss] s[ss] sb s[ff] so}", "compared", names[0], names[1], "gpu",
                     text_of(reports[0], "gpu"), text_of(reports[1], "gpu"), "modelled", 1,
                     "time_us", total(reports[0]), total(reports[1]), "kernels", list);
}
