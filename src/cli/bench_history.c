/*
 * bench_history.c: lockstep bench history: how the times of a family changed from run to run.
 */
#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/families.h"
#include "report/plot.h"

#include <stdlib.h>
#include <string.h>

/* The newest of a series, as many as fit. */
enum { SHOWN = PLOT_COLUMNS };

static void print_line(const struct report_paint *paint, const struct bench_series *series)
{
    char first[REPORT_UNIT], last[REPORT_UNIT];
    double values[SHOWN];
    size_t shown = series->count < 30 ? series->count : 30, from = series->count - shown;
    for (size_t i = 0; i < shown; i++)
        values[i] = series->points[from + i].seconds;
    const struct bench_point *begin = &series->points[from],
                             *end = &series->points[series->count - 1];
    printf("  %s%-20s%s ", series->peer ? paint->dim : "", series->name,
           series->peer ? paint->plain : "");
    report_sparkline(stdout, values, shown);
    printf("%*s %10s", (int)(30 - shown), "", report_seconds(last, end->seconds));
    if (series->count > 1)
        printf("  %+.1f %% since %s of %.10s", 100 * (end->seconds / begin->seconds - 1),
               report_seconds(first, begin->seconds), begin->date);
    printf("\n");
}

/* Time over runs; each point under its date and commit below. */
static void print_plot(const struct report_paint *paint, const struct bench_series *series)
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
        report_plot_print(stdout, paint, &plot);
    size_t listed = series->count < 8 ? series->count : 8;
    for (size_t i = series->count - listed; i < series->count; i++) {
        const struct bench_point *point = &series->points[i];
        printf("  %s  %-20s %10s  %.1f GB/s%s%s\n", point->date, point->commit,
               report_seconds(text, point->seconds), point->gb_s, *point->run ? "  " : "",
               point->run);
    }
}

static void print_all(const struct bench_series *series, size_t count, bool plot)
{
    struct report_paint paint = cli_paint(stdout);
    for (size_t i = 0; i < count; i++) {
        const struct bench_series *each = &series[i];
        bool new_place = i == 0 || strcmp(each->gpu_name, series[i - 1].gpu_name) != 0 ||
                         each->modelled != series[i - 1].modelled;
        if (new_place)
            printf("%s%s%s%s%s\n", i ? "\n" : "", paint.bold, each->gpu_name, paint.plain,
                   each->modelled ? ", modelled" : "");
        if (new_place || strcmp(each->problem, series[i - 1].problem) != 0)
            printf("%s\n", each->problem);
        print_line(&paint, each);
        if (plot)
            print_plot(&paint, each);
    }
}

static json_t *point_json(const struct bench_point *point)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:f}", "date", point->date, "commit", point->commit,
                     "saved_as", point->run, "median_us", point->seconds * 1e6, "gb_s",
                     point->gb_s);
}

static void print_json(const struct bench_series *series, size_t count)
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
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(all);
}

/* The name after the slash may be a peer's, which no variant is. */
static bool find_family(const char *text, const struct zoo_family **family, const char **name)
{
    const struct zoo_variant *variant;
    const char *slash = strchr(text, '/');
    char *whole = strndup(text, slash ? (size_t)(slash - text) : strlen(text));
    bool found = families_find(whole, family, &variant);
    free(whole);
    *name = slash ? slash + 1 : NULL;
    for (const struct zoo_peer *peer = found && *name ? (*family)->peers : NULL; peer && peer->name;
         peer++)
        if (strcmp(peer->name, *name) == 0)
            return true;
    return found && (!*name || families_find(text, family, &variant));
}

int bench_show_history(int count, char **words)
{
    const struct zoo_family *family;
    const char *text = NULL, *name;
    bool json = false;
    for (int at = 0; at < count;) {
        if (cli_flag(words, &at, "--json")) {
            json = true;
        } else if (words[at][0] == '-' || text) {
            host_error("bench history: '%s' is not understood; see 'lockstep bench --help'",
                      words[at]);
            return CLI_USAGE;
        } else {
            text = words[at++];
        }
    }
    if (!text) {
        host_error("bench history: of which family? as in 'lockstep bench history reduction'");
        return CLI_USAGE;
    }
    if (!find_family(text, &family, &name))
        return CLI_USAGE;
    char *message = NULL;
    struct bench_series *series = NULL;
    size_t found = 0;
    struct bench_history *history = bench_open_history(false, &message);
    bool fine =
        history && bench_history_series(history, family->name, name, &series, &found, &message);
    if (fine && json)
        print_json(series, found);
    else if (fine && found == 0)
        printf("%s was never measured here; 'lockstep bench %s' does\n", text, text);
    else if (fine)
        print_all(series, found, name != NULL);
    else
        host_error("bench history: %s", message);
    free(message);
    bench_series_free(series, found);
    bench_history_close(history);
    return fine ? CLI_OK : CLI_USAGE;
}
