/*
 * against.c: compares a run with an earlier one, from a --json file or from the history.
 */
#include "bench/history.h"

#include "bench/contest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void bench_saved_free(struct bench_saved *saved)
{
    if (!saved)
        return;
    for (size_t i = 0; i < saved->count; i++) {
        free(saved->times[i].family);
        free(saved->times[i].problem);
        free(saved->times[i].name);
    }
    free(saved->times);
    free(saved->gpu_name);
    free(saved->commit);
    free(saved->date);
    free(saved);
}

/* Files -----------------------------------------------------------------------------------------*/

static char *text_of(json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return strdup(text ? text : "");
}

static double seconds_of(json_t *entry, const char *name)
{
    return json_number_value(json_object_get(entry, name)) * 1e-6;
}

/* One contestant; those that were not measured are passed over. False: this is not ours. */
static bool read_entry(struct bench_saved *saved, json_t *result, json_t *entry)
{
    const char *state = json_string_value(json_object_get(entry, "state"));
    if (!state || !json_is_string(json_object_get(entry, "name")))
        return false;
    if (strcmp(state, "measured") != 0)
        return true;
    struct bench_summary time = {.count =
                                     (size_t)json_integer_value(json_object_get(entry, "samples")),
                                 .median = seconds_of(entry, "median_us"),
                                 .q1 = seconds_of(entry, "q1_us"),
                                 .q3 = seconds_of(entry, "q3_us"),
                                 .low = seconds_of(entry, "low_us"),
                                 .high = seconds_of(entry, "high_us")};
    if (time.count == 0 || !(time.low > 0) || !(time.median >= time.low) ||
        !(time.high >= time.median))
        return false;
    saved->times = lk_realloc(saved->times, (saved->count + 1) * sizeof *saved->times);
    saved->times[saved->count++] = (struct bench_saved_time){
        text_of(result, "family"), text_of(result, "problem"), text_of(entry, "name"), time};
    return true;
}

static bool read_results(struct bench_saved *saved, json_t *results)
{
    size_t i, k;
    json_t *result, *entry;
    json_array_foreach(results, i, result)
    {
        json_t *entries = json_object_get(result, "entries");
        if (!json_is_array(entries))
            return false;
        json_array_foreach(entries, k, entry) if (!read_entry(saved, result, entry)) return false;
    }
    return true;
}

struct bench_saved *bench_saved_read(const char *path, char **message)
{
    json_error_t error;
    json_t *report = json_load_file(path, 0, &error);
    *message = NULL;
    if (!report) {
        *message = error.line > 0
                       ? lk_format("%s:%d:%d: %s", path, error.line, error.column, error.text)
                       : lk_format("%s", error.text);
        return NULL;
    }
    struct bench_saved *saved = lk_alloc_zeroed(sizeof *saved);
    saved->gpu_name = text_of(report, "gpu_name");
    saved->commit = text_of(report, "commit");
    saved->date = text_of(report, "date");
    saved->modelled = json_is_true(json_object_get(report, "modelled"));
    json_t *results = json_object_get(report, "results");
    if (!json_is_array(results) || !*saved->gpu_name || !read_results(saved, results)) {
        *message = lk_format("%s: not a result of 'lockstep bench --json'", path);
        bench_saved_free(saved);
        saved = NULL;
    }
    json_decref(report);
    return saved;
}

struct bench_saved *bench_saved_find(const char *name, char **message)
{
    size_t length = strlen(name);
    bool is_file = strchr(name, '/') || access(name, F_OK) == 0 ||
                   (length > 5 && strcmp(name + length - 5, ".json") == 0);
    if (is_file)
        return bench_saved_read(name, message);
    struct bench_history *history = bench_history_open_usual(false, message);
    struct bench_saved *saved = history ? bench_history_find(history, name, message) : NULL;
    bench_history_close(history);
    return saved;
}

/* Comparing -------------------------------------------------------------------------------------*/

static const struct bench_saved_time *find(const struct bench_saved *saved, const char *family,
                                           const char *problem, const char *name)
{
    for (size_t i = 0; i < saved->count; i++)
        if (strcmp(saved->times[i].family, family) == 0 &&
            strcmp(saved->times[i].problem, problem) == 0 &&
            strcmp(saved->times[i].name, name) == 0)
            return &saved->times[i];
    return NULL;
}

static struct bench_change compare(const struct bench_result *result,
                                   const struct bench_entry *entry, const struct bench_saved *saved)
{
    struct bench_change change = {.result = result, .entry = entry, .verdict = BENCH_AMBIGUOUS};
    change.before = find(saved, result->family->name, result->text, entry->name);
    if (change.before)
        change.verdict = bench_compare(&change.before->time, &entry->time, BENCH_THRESHOLD);
    return change;
}

bool bench_comparable(const struct bench_place *place, const struct bench_saved *saved,
                      char **message)
{
    *message = NULL;
    if (strcmp(saved->gpu_name, place->name) == 0 && saved->modelled == place->modelled)
        return true;
    *message = lk_format("it was %s on %s, this is %s on %s: they are not compared",
                         saved->modelled ? "modelled" : "measured", saved->gpu_name,
                         place->modelled ? "modelled" : "measured", place->name);
    return false;
}

struct bench_change *bench_changes(const struct bench_report *report,
                                   const struct bench_saved *saved, size_t *count)
{
    struct bench_change *changes = NULL;
    *count = 0;
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; k < report->results[i].count; k++) {
            const struct bench_entry *entry = &report->results[i].entries[k];
            if (entry->peer || entry->state != BENCH_MEASURED)
                continue;
            changes = lk_realloc(changes, (*count + 1) * sizeof *changes);
            changes[(*count)++] = compare(&report->results[i], entry, saved);
        }
    return changes;
}

static void print_change(FILE *out, const struct report_paint *paint,
                         const struct bench_change *change)
{
    char before[REPORT_UNIT], after[REPORT_UNIT];
    double percent = 100 * (change->entry->time.median / change->before->time.median - 1);
    const char *colour = change->verdict == BENCH_WORSE    ? paint->red
                         : change->verdict == BENCH_BETTER ? paint->green
                                                           : paint->yellow;
    fprintf(out, "  %s%-9s%s %s/%s %s: %s -> %s, %+.1f %%\n", colour,
            bench_verdict_names[change->verdict], paint->plain, change->result->family->name,
            change->entry->name, change->result->text,
            report_seconds(before, change->before->time.median),
            report_seconds(after, change->entry->time.median), percent);
}

void bench_print_changes(FILE *out, const struct report_paint *paint,
                         const struct bench_change *changes, size_t count,
                         const struct bench_saved *saved, const char *name)
{
    size_t tally[BENCH_AMBIGUOUS + 1] = {0}, new = 0;
    fprintf(out, "\n%sagainst %s%s (commit %s, %s)\n", paint->bold, name, paint->plain,
            saved->commit, saved->date);
    for (size_t i = 0; i < count; i++) {
        new += !changes[i].before;
        if (!changes[i].before)
            continue;
        tally[changes[i].verdict]++;
        if (changes[i].verdict != BENCH_SAME)
            print_change(out, paint, &changes[i]);
    }
    fprintf(out, "  %zu better, %zu the same, %zu worse, %zu ambiguous", tally[BENCH_BETTER],
            tally[BENCH_SAME], tally[BENCH_WORSE], tally[BENCH_AMBIGUOUS]);
    fprintf(out, new ? ", %zu new\n" : "\n", new);
}

json_t *bench_changes_json(const struct bench_change *changes, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (changes[i].before)
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:s, s:s, s:f, s:f}", "family",
                                            changes[i].result->family->name, "problem",
                                            changes[i].result->text, "name", changes[i].entry->name,
                                            "verdict", bench_verdict_names[changes[i].verdict],
                                            "before_us", changes[i].before->time.median * 1e6,
                                            "after_us", changes[i].entry->time.median * 1e6));
    return list;
}
