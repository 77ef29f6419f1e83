/*
 * roofline_family.c: lockstep roofline FAMILY: measures a family's variants and draws where each
 * stands under the GPU's roof.
 */
#include "cli/measure.h"
#include "cli/roofline.h"
#include "report/plot.h"
#include "report/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct measure_request request;
    const char *svg;
    bool json;
};

/* One contestant of one problem. */
struct point {
    const struct bench_result *result;
    const struct bench_entry *entry;
    double intensity, rate;
    char mark;
};

static bool parse(int count, char **words, struct options *options)
{
    for (int at = 0; at < count;) {
        bool bad = false;
        if (cli_flag(words, &at, "--json")) {
            options->json = true;
        } else if (cli_option(count, words, &at, "--svg", &options->svg)) {
            bad = !options->svg;
        } else if (!measure_word(&options->request, count, words, &at, &bad)) {
            host_error("roofline: '%s' is not understood; see 'lockstep roofline --help'",
                       words[at]);
            bad = true;
        }
        if (bad)
            return false;
    }
    if (options->request.names.count == 0) {
        host_error("roofline needs --bytes and --flops, or a family, as in "
                   "'lockstep roofline reduction'");
        return false;
    }
    return measure_check(&options->request);
}

static struct point *find_points(const struct bench_report *report, size_t *count)
{
    static const char marks[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    struct point *points = NULL;
    *count = 0;
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; k < report->results[i].count; k++) {
            const struct bench_result *result = &report->results[i];
            const struct bench_entry *entry = &result->entries[k];
            if (entry->state != BENCH_MEASURED || !(result->bytes > 0) || !(result->flops > 0))
                continue;
            points = lk_realloc(points, (*count + 1) * sizeof *points);
            points[*count] =
                (struct point){result, entry, result->flops / result->bytes, entry->gflop_s * 1e9,
                               marks[*count % (sizeof marks - 1)]};
            ++*count;
        }
    return points;
}

/* Both axes wide enough for the roof's bend and for every point, in whole decades. */
static struct report_plot make_plot(const struct gpu_info *gpu, const struct point *points,
                                    size_t count)
{
    double peak = gpu->f32_tflops * 1e12, bandwidth = gpu->memory_gb_s * 1e9;
    double left = 0.05, right = 20 * peak / bandwidth, low = left * bandwidth, high = 2 * peak;
    for (size_t i = 0; i < count; i++) {
        left = points[i].intensity / 2 < left ? points[i].intensity / 2 : left;
        right = points[i].intensity * 2 > right ? points[i].intensity * 2 : right;
        low = points[i].rate / 2 < low ? points[i].rate / 2 : low;
        high = points[i].rate * 2 > high ? points[i].rate * 2 : high;
    }
    return (struct report_plot){.x_low = pow(10, floor(log10(left))),
                                .x_high = pow(10, ceil(log10(right))),
                                .y_low = pow(10, floor(log10(low))),
                                .y_high = pow(10, ceil(log10(high))),
                                .log_x = true,
                                .log_y = true,
                                .x_title = "operations a byte",
                                .y_title = "operations a second"};
}

static void print_plot(const struct bench_place *place, const struct point *points, size_t count)
{
    struct report_paint paint = cli_paint(stdout);
    const struct gpu_info *gpu = place->info;
    double peak = gpu->f32_tflops * 1e12, bandwidth = gpu->memory_gb_s * 1e9;
    struct report_plot plot = make_plot(gpu, points, count);
    report_plot_line(&plot, plot.x_low, plot.x_low * bandwidth, peak / bandwidth, peak, '/');
    report_plot_line(&plot, peak / bandwidth, peak, plot.x_high, peak, '-');
    for (size_t i = 0; i < count; i++)
        report_plot_mark(&plot, points[i].intensity, points[i].rate, points[i].mark);
    printf("%s%s%s: %.0f GB/s, %.3g TFLOP/s in f32%s\n", paint.bold, place->name, paint.plain,
           gpu->memory_gb_s, gpu->f32_tflops, place->modelled ? "; times are modelled" : "");
    report_plot_print(stdout, &paint, &plot);
    for (size_t i = 0; i < count; i++) {
        char time[REPORT_UNIT];
        printf("  %s%c%s %s/%s%s %s: %s, %.1f GFLOP/s, %.1f GB/s, %.1f %% of the roof\n",
               paint.bold, points[i].mark, paint.plain, points[i].result->family->name,
               points[i].entry->name, points[i].entry->peer ? " (peer)" : "",
               points[i].result->text, report_seconds(time, points[i].entry->time.median),
               points[i].entry->gflop_s, points[i].entry->gb_s, 100 * points[i].entry->roof);
    }
}

static void print_json(const struct bench_place *place, const struct point *points, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:f}", "family",
                            points[i].result->family->name, "name", points[i].entry->name,
                            "problem", points[i].result->text, "intensity", points[i].intensity,
                            "gflop_s", points[i].entry->gflop_s, "time_us",
                            points[i].entry->time.median * 1e6, "roof", points[i].entry->roof));
    json_t *object = json_pack("{s:s, s:b, s:f, s:f, s:o}", "gpu", place->name, "modelled",
                               place->modelled, "memory_gb_s", place->info->memory_gb_s,
                               "f32_tflops", place->info->f32_tflops, "points", list);
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(object);
}

static bool write_svg(const char *path, const struct gpu_info *gpu, const struct point *points,
                      size_t count)
{
    struct lk_buf out = {0};
    struct svg_point *drawn = lk_alloc((count + 1) * sizeof *drawn);
    for (size_t i = 0; i < count; i++)
        drawn[i] = (struct svg_point){points[i].intensity, points[i].rate, points[i].entry->name};
    svg_roofline_points(&out, gpu, drawn, count, true);
    bool written = cli_write_file(path, out.data, out.size);
    free(drawn);
    lk_buf_free(&out);
    return written;
}

static bool has_roof(const struct bench_place *place, void *context)
{
    if (!place->info)
        host_error("roofline: the peaks of %s are not known; 'lockstep gpus' lists those that are",
                   place->name);
    return place->info != NULL;
}

int roofline_family(int count, char **words)
{
    struct options options = {.request = {.seconds = 1, .first_only = true, .accepts = has_roof}};
    struct measure measure;
    int status = CLI_USAGE;
    if (parse(count, words, &options) && measure_run(&options.request, &measure)) {
        size_t found;
        const struct bench_place *place = bench_place(measure.session);
        struct point *points = find_points(&measure.report, &found);
        bool fine = !measure.failed;
        if (options.json)
            print_json(place, points, found);
        else if (found)
            print_plot(place, points, found);
        if (found == 0 && fine)
            host_error("roofline: nothing was measured that has operations and bytes");
        if (options.svg)
            fine = write_svg(options.svg, place->info, points, found) && fine;
        status = !fine ? CLI_USAGE : found ? CLI_OK : CLI_FINDINGS;
        free(points);
        measure_free(&measure);
    }
    measure_request_free(&options.request);
    return status;
}
