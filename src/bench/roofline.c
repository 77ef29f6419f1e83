/*
 * roofline.c: where measured contestants stand under their GPU's roof: a plot on the terminal,
 * JSON, SVG.
 */
#include "bench/results.h"

#include "base/arena.h"
#include "report/plot.h"
#include "report/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One contestant of one problem. Copies and work on integers have an intensity of 0, which no
 * logarithmic axis shows: they stand at the left edge, as far below the roof there as their bytes a
 * second are below the memory's. */
struct point {
    const struct bench_result *result;
    const struct bench_entry *entry;
    double intensity, rate;
    char mark;
};

static struct point *find_points(const struct bench_report *report, size_t *count)
{
    static const char marks[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    struct point *points = NULL;
    *count = 0;
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; k < report->results[i].count; k++) {
            const struct bench_result *result = &report->results[i];
            const struct bench_entry *entry = &result->entries[k];
            if (entry->state != BENCH_MEASURED || !(result->bytes > 0))
                continue;
            points = lk_realloc(points, (*count + 1) * sizeof *points);
            points[*count] =
                (struct point){result, entry, result->flops / result->bytes, entry->gflop_s * 1e9,
                               marks[*count % (sizeof marks - 1)]};
            ++*count;
        }
    return points;
}

/* Its height, where least is the left edge. */
static double rate_at(const struct point *point, double least)
{
    return point->intensity > 0 ? point->rate : least * point->entry->gb_s * 1e9;
}

/* The units that the points' operations need: each has a roof of its own. */
struct roofs {
    const char *units[8];
    size_t count;
    double highest; /* operations a second */
};

static struct roofs find_roofs(const struct gpu_info *gpu, const struct point *points, size_t count)
{
    struct roofs roofs = {.units = {"f32"}, .count = 1, .highest = gpu->f32_tflops * 1e12};
    for (size_t i = 0; i < count; i++) {
        const char *unit = points[i].result->unit;
        size_t at = 0;
        while (at < roofs.count && strcmp(roofs.units[at], unit) != 0)
            at++;
        if (at < roofs.count || at == sizeof roofs.units / sizeof *roofs.units)
            continue;
        roofs.units[roofs.count++] = unit;
        roofs.highest = fmax(roofs.highest, bench_peak(gpu, unit) * 1e12);
    }
    return roofs;
}

/* Both axes wide enough for the roof's bend and for every point, in whole decades. */
static struct report_plot make_plot(const struct gpu_info *gpu, const struct point *points,
                                    size_t count, double peak)
{
    double bandwidth = gpu->memory_gb_s * 1e9;
    double left = 0.05, right = 20 * peak / bandwidth, low = left * bandwidth, high = 2 * peak;
    for (size_t i = 0; i < count; i++)
        if (points[i].intensity > 0 && points[i].intensity / 2 < left)
            left = points[i].intensity / 2;
    left = pow(10, floor(log10(left)));
    for (size_t i = 0; i < count; i++) {
        double rate = rate_at(&points[i], left);
        right = points[i].intensity * 2 > right ? points[i].intensity * 2 : right;
        low = rate / 2 < low ? rate / 2 : low;
        high = rate * 2 > high ? rate * 2 : high;
    }
    return (struct report_plot){.x_low = left,
                                .x_high = pow(10, ceil(log10(right))),
                                .y_low = pow(10, floor(log10(low))),
                                .y_high = pow(10, ceil(log10(high))),
                                .log_x = true,
                                .log_y = true,
                                .x_title = "operations a byte",
                                .y_title = "operations a second"};
}

bool bench_has_roofline(const struct bench_report *report)
{
    size_t count;
    free(find_points(report, &count));
    return count > 0;
}

void bench_print_roofline(FILE *out, const struct report_paint *paint,
                          const struct bench_report *report)
{
    size_t count;
    struct point *points = find_points(report, &count);
    const struct bench_place *place = report->place;
    const struct gpu_info *gpu = place->info;
    if (!count)
        return;
    double bandwidth = gpu->memory_gb_s * 1e9;
    struct roofs roofs = find_roofs(gpu, points, count);
    struct report_plot plot = make_plot(gpu, points, count, roofs.highest);
    report_plot_line(&plot, plot.x_low, plot.x_low * bandwidth, roofs.highest / bandwidth,
                     roofs.highest, '/');
    for (size_t i = 0; i < roofs.count; i++) {
        double peak = bench_peak(gpu, roofs.units[i]) * 1e12;
        report_plot_line(&plot, peak / bandwidth, peak, plot.x_high, peak, '-');
    }
    for (size_t i = 0; i < count; i++)
        report_plot_mark(&plot, points[i].intensity > 0 ? points[i].intensity : plot.x_low,
                         rate_at(&points[i], plot.x_low), points[i].mark);
    fprintf(out, "%s%s%s: %.0f GB/s", paint->bold, place->name, paint->plain, gpu->memory_gb_s);
    for (size_t i = 0; i < roofs.count; i++)
        fprintf(out, ", %.3g TFLOP/s in %s", bench_peak(gpu, roofs.units[i]), roofs.units[i]);
    fprintf(out, "%s\n", place->modelled ? "; times are modelled" : "");
    report_plot_print(out, paint, &plot);
    for (size_t i = 0; i < count; i++) {
        char time[REPORT_UNIT];
        fprintf(out, "  %s%c%s %s/%s%s %s: %s, ", paint->bold, points[i].mark, paint->plain,
                points[i].result->family->name, points[i].entry->name,
                points[i].entry->peer ? " (peer)" : "", points[i].result->text,
                report_seconds(time, points[i].entry->time.median));
        if (points[i].intensity > 0)
            fprintf(out, "%.1f GFLOP/s, ", points[i].entry->gflop_s);
        fprintf(out, "%.1f GB/s, %.1f %% of the roof%s\n", points[i].entry->gb_s,
                100 * points[i].entry->roof,
                points[i].intensity > 0 ? "" : " (no floating-point operations: at the left edge)");
    }
    free(points);
}

json_t *bench_roofline_json(const struct bench_report *report)
{
    size_t count;
    struct point *points = find_points(report, &count);
    const struct bench_place *place = report->place;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f}", "family",
                            points[i].result->family->name, "name", points[i].entry->name,
                            "problem", points[i].result->text, "unit", points[i].result->unit,
                            "peak_tflops", bench_peak(place->info, points[i].result->unit),
                            "intensity", points[i].intensity, "gflop_s", points[i].entry->gflop_s,
                            "gb_s", points[i].entry->gb_s, "time_us",
                            points[i].entry->time.median * 1e6, "roof", points[i].entry->roof));
    free(points);
    return json_pack("{s:s, s:b, s:f, s:f, s:o}", "gpu", place->name, "modelled", place->modelled,
                     "memory_gb_s", place->info->memory_gb_s, "f32_tflops", place->info->f32_tflops,
                     "points", list);
}

void bench_roofline_svg(struct lk_buf *out, const struct bench_report *report)
{
    size_t count;
    struct point *points = find_points(report, &count);
    struct svg_point *drawn = lk_alloc((count + 1) * sizeof *drawn);
    for (size_t i = 0; i < count; i++)
        drawn[i] =
            (struct svg_point){points[i].intensity > 0 ? points[i].intensity : SVG_LEAST_INTENSITY,
                               rate_at(&points[i], SVG_LEAST_INTENSITY), points[i].entry->name};
    struct roofs roofs = find_roofs(report->place->info, points, count);
    struct svg_roof lines[sizeof roofs.units / sizeof *roofs.units];
    for (size_t i = 0; i < roofs.count; i++)
        lines[i] = (struct svg_roof){roofs.units[i],
                                     bench_peak(report->place->info, roofs.units[i]) * 1e12};
    svg_roofline_points(out, report->place->info, lines, roofs.count, drawn, count);
    free(drawn);
    free(points);
}
