/*
 * history_text.c: how the times of a family changed from run to run: on a terminal, and as JSON.
 */
#include "bench/history.h"

#include "report/plot.h"

#include <stdlib.h>
#include <string.h>

/* The newest of a series, as many as fit. */
enum { SHOWN = PLOT_COLUMNS };

static void print_line(FILE *out, const struct report_paint *paint,
                       const struct bench_series *series)
{
    char first[REPORT_UNIT], last[REPORT_UNIT];
    double values[SHOWN];
    size_t shown = series->count < 30 ? series->count : 30, from = series->count - shown;
    for (size_t i = 0; i < shown; i++)
        values[i] = series->points[from + i].seconds;
    const struct bench_point *begin = &series->points[from],
                             *end = &series->points[series->count - 1];
    fprintf(out, "  %s%-20s%s ", series->peer ? paint->dim : "", series->name,
            series->peer ? paint->plain : "");
    report_sparkline(out, values, shown);
    fprintf(out, "%*s %10s", (int)(30 - shown), "", report_seconds(last, end->seconds));
    if (series->count > 1)
        fprintf(out, "  %+.1f %% since %s of %.10s", 100 * (end->seconds / begin->seconds - 1),
                report_seconds(first, begin->seconds), begin->date);
    fprintf(out, "\n");
}

/* Time over runs; each point under its date and commit below. */
static void print_plot(FILE *out, const struct report_paint *paint,
                       const struct bench_series *series)
{
    struct report_plot plot = {.x_low = 1,
                               .y_title = "     time",
                               .x_title = "runs, oldest first",
                               .y_text = report_seconds};
    size_t shown = series->count < SHOWN ? series->count : SHOWN, from = series->count - shown;
    double high = 0, low = series->points[from].seconds;
    char text[REPORT_UNIT];
    for (size_t i = from; i < series->count; i++) {
        double seconds = series->points[i].seconds;
        high = seconds > high ? seconds : high;
        low = seconds < low ? seconds : low;
    }
    plot.y_low = 0.9 * low;
    plot.y_high = 1.1 * high;
    plot.x_high = (double)shown;
    for (size_t i = 0; i < shown; i++)
        report_plot_mark(&plot, (double)(i + 1), series->points[from + i].seconds, '*');
    if (shown > 1)
        report_plot_print(out, paint, &plot);
    size_t listed = series->count < 8 ? series->count : 8;
    for (size_t i = series->count - listed; i < series->count; i++) {
        const struct bench_point *point = &series->points[i];
        fprintf(out, "  %s  %-20s %10s  %.1f GB/s%s%s\n", point->date, point->commit,
                report_seconds(text, point->seconds), point->gb_s, *point->run ? "  " : "",
                point->run);
    }
}

void bench_print_series(FILE *out, const struct report_paint *paint,
                        const struct bench_series *series, size_t count, bool plot)
{
    for (size_t i = 0; i < count; i++) {
        const struct bench_series *each = &series[i];
        bool new_place = i == 0 || strcmp(each->gpu_name, series[i - 1].gpu_name) != 0 ||
                         each->modelled != series[i - 1].modelled;
        if (new_place)
            fprintf(out, "%s%s%s%s%s\n", i ? "\n" : "", paint->bold, each->gpu_name, paint->plain,
                    each->modelled ? ", modelled" : "");
        if (new_place || strcmp(each->problem, series[i - 1].problem) != 0)
            fprintf(out, "%s\n", each->problem);
        print_line(out, paint, each);
        if (plot)
            print_plot(out, paint, each);
    }
}

static json_t *point_json(const struct bench_point *point)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:f}", "date", point->date, "commit", point->commit,
                     "saved_as", point->run, "median_us", point->seconds * 1e6, "gb_s",
                     point->gb_s);
}

json_t *bench_series_json(const struct bench_series *series, size_t count)
{
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *points = json_array();
        for (size_t k = 0; k < series[i].count; k++)
            json_array_append_new(points, point_json(&series[i].points[k]));
        json_array_append_new(all, json_pack("{s:s, s:b, s:s, s:s, s:b, s:o}", "gpu_name",
                                             series[i].gpu_name, "modelled", series[i].modelled,
                                             "problem", series[i].problem, "name", series[i].name,
                                             "peer", series[i].peer, "points", points));
    }
    return all;
}
