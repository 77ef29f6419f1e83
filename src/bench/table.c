/*
 * table.c: results on a terminal.
 */
#include "bench/results.h"

#include "base/arena.h"
#include "bench/commit.h" /* made by the build */

#include <stdlib.h>
#include <string.h>
#include <time.h>

void bench_report_begin(struct bench_report *report, const struct bench_place *place)
{
    time_t now = time(NULL);
    struct tm parts;
    *report =
        (struct bench_report){.place = place, .commit = LOCKSTEP_COMMIT, .compiler = zoo_compiler};
    gmtime_r(&now, &parts);
    strftime(report->date, sizeof report->date, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

struct bench_result *bench_report_add(struct bench_report *report)
{
    report->results = lk_realloc(report->results, (report->count + 1) * sizeof *report->results);
    report->results[report->count] = (struct bench_result){0};
    return &report->results[report->count++];
}

void bench_report_free(struct bench_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        bench_result_free(&report->results[i]);
    free(report->results);
}

bool bench_report_has(const struct bench_report *report, enum bench_state state)
{
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; k < report->results[i].count; k++)
            if (report->results[i].entries[k].state == state)
                return true;
    return false;
}

void bench_print_place(FILE *out, const struct report_paint *paint,
                       const struct bench_report *report)
{
    const struct bench_place *place = report->place;
    fprintf(out, "%s%s%s", paint->bold, place->name, paint->plain);
    if (place->driver[0])
        fprintf(out, ", %s", place->driver);
    if (place->info)
        fprintf(out, ", %.0f GB/s by its datasheet", place->info->memory_gb_s);
    if (place->copy_gb_s > 0)
        fprintf(out, ", %.0f GB/s measured in a copy", place->copy_gb_s);
    if (place->modelled)
        fprintf(out, "; all times are %smodelled%s", paint->yellow, paint->plain);
    fprintf(out, "\n%skernels by %s, commit %s, %s%s\n", paint->dim, report->compiler,
            report->commit, report->date, paint->plain);
}

static void put_percent(FILE *out, double fraction)
{
    if (fraction > 0)
        fprintf(out, " %6.1f", 100 * fraction);
    else
        fprintf(out, " %6s", "-");
}

static void put_number(FILE *out, int number)
{
    if (number > 0)
        fprintf(out, " %5d", number);
    else
        fprintf(out, " %5s", "-");
}

static void print_entry(FILE *out, const struct report_paint *paint,
                        const struct bench_place *place, const struct bench_entry *entry, bool best)
{
    char median[REPORT_UNIT], q1[REPORT_UNIT], q3[REPORT_UNIT], memory[REPORT_UNIT];
    const char *style = best ? paint->green : entry->peer ? paint->dim : "";
    fprintf(out, "  %s%-20s%s ", style, entry->name, *style ? paint->plain : "");
    if (entry->state != BENCH_MEASURED) {
        fprintf(out, "%s%s%s: %s\n", entry->state == BENCH_WRONG ? paint->red : paint->dim,
                entry->state == BENCH_WRONG ? "WRONG" : "skipped", paint->plain,
                entry->message ? entry->message : "");
        return;
    }
    fprintf(out, "%10s", report_seconds(median, entry->time.median));
    if (!place->modelled)
        fprintf(out, " %10s %10s", report_seconds(q1, entry->time.q1),
                report_seconds(q3, entry->time.q3));
    fprintf(out, " %8.1f", entry->gb_s);
    if (entry->gflop_s > 0)
        fprintf(out, " %9.1f", entry->gflop_s);
    else
        fprintf(out, " %9s", "-");
    put_percent(out, entry->roof);
    if (!place->modelled)
        put_percent(out, entry->copy_roof);
    fprintf(out, " %9s", report_bytes(memory, (double)entry->workspace_bytes));
    put_number(out, entry->registers);
    put_number(out, entry->lines);
    if (!place->modelled && bench_uncertainty(&entry->time) > 0.005)
        fprintf(out, "  %s+-%.1f %%%s", paint->yellow, 100 * bench_uncertainty(&entry->time),
                paint->plain);
    fprintf(out, "%s%s\n", entry->version ? "  " : "", entry->version ? entry->version : "");
}

static const struct bench_entry *fastest(const struct bench_result *result)
{
    const struct bench_entry *best = NULL;
    for (size_t i = 0; i < result->count; i++)
        if (result->entries[i].state == BENCH_MEASURED &&
            (!best || result->entries[i].time.median < best->time.median))
            best = &result->entries[i];
    return best;
}

static void print_remarks(FILE *out, const struct report_paint *paint,
                          const struct bench_result *result, const struct bench_entry *best)
{
    char bytes[REPORT_UNIT];
    fprintf(out, "  %s%s to move", paint->dim, report_bytes(bytes, result->bytes));
    if (best && best->method != BENCH_MODEL)
        fprintf(out, "; timed by %s", bench_method_names[best->method]);
    if (best && best->launches > 1)
        fprintf(out, " (%u)", best->launches);
    if (result->copies > 1)
        fprintf(out, ", %u copies of the buffers in turn", result->copies);
    if (result->verified_on)
        fprintf(out, "; compared with the reference on %s", result->verified_on);
    for (const char *line = result->remarks; line && *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "\n  %.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    fprintf(out, "%s\n", paint->plain);
}

void bench_print_result(FILE *out, const struct report_paint *paint,
                        const struct bench_place *place, const struct bench_result *result)
{
    const struct bench_entry *best = fastest(result);
    fprintf(out, "\n%s%s%s %s\n", paint->bold, result->family->name, paint->plain, result->text);
    if (result->count == 0) {
        fprintf(out, "  nothing here takes this problem\n");
        return;
    }
    fprintf(out, "  %s%-20s ", paint->dim, "");
    fprintf(out, "%10s", place->modelled ? "modelled" : "median");
    if (!place->modelled)
        fprintf(out, " %10s %10s", "quartile", "quartile");
    fprintf(out, " %8s %9s %6s", "GB/s", "GFLOP/s", "% roof");
    if (!place->modelled)
        fprintf(out, " %6s", "% copy");
    fprintf(out, " %9s %5s %5s%s\n", "workspace", "regs", "lines", paint->plain);
    for (size_t i = 0; i < result->count; i++)
        print_entry(out, paint, place, &result->entries[i], &result->entries[i] == best);
    print_remarks(out, paint, result, best);
    fflush(out);
}
