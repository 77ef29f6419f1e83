/*
 * page.c: results as CSV and as one HTML page with a plot of each problem.
 */
#include "bench/results.h"

#include "base/text.h"
#include "report/svg.h"

#include <string.h>

/* CSV -------------------------------------------------------------------------------------------*/

/* Quoted where it must be. */
static void put_field(struct lk_buf *out, const char *text)
{
    if (!text[strcspn(text, ",\"\n")]) {
        lk_buf_printf(out, "%s", text);
        return;
    }
    lk_buf_add(out, "\"", 1);
    for (; *text; text++)
        lk_buf_add(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    lk_buf_add(out, "\"", 1);
}

static void put_row(struct lk_buf *out, const struct bench_report *report,
                    const struct bench_result *result, const struct bench_entry *entry)
{
    const char *const words[] = {result->family->name,
                                 result->text,
                                 entry->name,
                                 entry->peer ? "peer" : "variant",
                                 entry->version ? entry->version : "",
                                 bench_method_names[entry->method]};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        put_field(out, words[i]);
        lk_buf_add(out, ",", 1);
    }
    const struct bench_summary *time = &entry->time;
    lk_buf_printf(out, "%zu,%.6g,%.6g,%.6g,%.6g,%.6g,", time->count, time->median * 1e6,
                  time->q1 * 1e6, time->q3 * 1e6, time->low * 1e6, time->high * 1e6);
    lk_buf_printf(out, "%.6g,%.6g,%.4f,%.4f,%zu,%d,%d,", entry->gb_s, entry->gflop_s, entry->roof,
                  entry->copy_roof, entry->workspace_bytes, entry->registers, entry->lines);
    put_field(out, report->place->name);
    lk_buf_printf(out, ",%d,%s,%s\n", report->place->modelled, report->commit, report->date);
}

void bench_report_csv(struct lk_buf *out, const struct bench_report *report)
{
    lk_buf_printf(out, "family,problem,name,kind,version,method,samples,median_us,q1_us,q3_us,"
                       "low_us,high_us,gb_s,gflop_s,roof,copy_roof,workspace_bytes,registers,"
                       "lines,gpu,modelled,commit,date\n");
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; k < report->results[i].count; k++)
            if (report->results[i].entries[k].state == BENCH_MEASURED)
                put_row(out, report, &report->results[i], &report->results[i].entries[k]);
}

/* HTML ------------------------------------------------------------------------------------------*/

enum { BAR_LEFT = 150, BAR_WIDTH = 420, BAR_STEP = 20 };

/* One bar for each contestant: how much of the roof it reaches, or of the fastest's speed where no
 * roof is known. */
static void put_bars(struct lk_buf *out, const struct bench_result *result)
{
    size_t rows = 0;
    double least = 0;
    bool roof = true;
    for (size_t i = 0; i < result->count; i++) {
        const struct bench_entry *entry = &result->entries[i];
        if (entry->state != BENCH_MEASURED)
            continue;
        rows++;
        roof = roof && entry->roof > 0;
        if (least == 0 || entry->time.median < least)
            least = entry->time.median;
    }
    lk_buf_printf(out,
                  "<svg viewBox=\"0 0 %d %zu\" style=\"max-width:%dpx\" role=\"img\" "
                  "aria-label=\"share of the %s\">\n",
                  BAR_LEFT + BAR_WIDTH + 90, rows * BAR_STEP + 24, BAR_LEFT + BAR_WIDTH + 90,
                  roof ? "roof" : "fastest");
    size_t row = 0;
    for (size_t i = 0; i < result->count; i++) {
        const struct bench_entry *entry = &result->entries[i];
        if (entry->state != BENCH_MEASURED)
            continue;
        double share = roof ? entry->roof : least / entry->time.median,
               y = (double)row++ * BAR_STEP;
        double width = (share < 1 ? share : 1) * BAR_WIDTH;
        lk_buf_printf(out, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">", BAR_LEFT - 8, y + 14);
        lk_buf_html(out, entry->name);
        lk_buf_printf(out,
                      "</text><rect x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>"
                      "<text x=\"%.1f\" y=\"%.0f\">%.1f %%</text>\n",
                      BAR_LEFT, y + 3, width, BAR_STEP - 6, entry->peer ? "#999" : "#0b6bcb",
                      BAR_LEFT + width + 6, y + 14, 100 * share);
    }
    lk_buf_printf(out, "<text x=\"%d\" y=\"%zu\">%% of the %s; peers in grey</text></svg>\n",
                  BAR_LEFT, rows * BAR_STEP + 16, roof ? "roof" : "fastest");
}

/* The table's columns; those of a spread and of the measured copy only where something was
 * measured. */
enum column {
    MEDIAN,
    LOWER,
    UPPER,
    GB_S,
    GFLOP_S,
    ROOF,
    COPY,
    WORKSPACE,
    REGISTERS,
    LINES,
    COLUMNS
};

static const char *column_title(enum column column, bool modelled)
{
    static const char *const titles[COLUMNS] = {"median",    "quartile",  "quartile",  "GB/s",
                                                "GFLOP/s",   "% of roof", "% of copy", "workspace",
                                                "registers", "lines"};
    bool measured_only = column == LOWER || column == UPPER || column == COPY;
    return modelled && measured_only      ? NULL
           : modelled && column == MEDIAN ? "modelled"
                                          : titles[column];
}

static const char *column_text(char text[REPORT_UNIT], enum column column,
                               const struct bench_entry *entry)
{
    const double numbers[COLUMNS] = {[GB_S] = entry->gb_s,
                                     [GFLOP_S] = entry->gflop_s,
                                     [ROOF] = 100 * entry->roof,
                                     [COPY] = 100 * entry->copy_roof};
    switch (column) {
    case MEDIAN:
        return report_seconds(text, entry->time.median);
    case LOWER:
        return report_seconds(text, entry->time.q1);
    case UPPER:
        return report_seconds(text, entry->time.q3);
    case WORKSPACE:
        return report_bytes(text, (double)entry->workspace_bytes);
    case REGISTERS:
    case LINES:
        snprintf(text, REPORT_UNIT, "%d", column == LINES ? entry->lines : entry->registers);
        return text;
    default:
        snprintf(text, REPORT_UNIT, "%.1f", numbers[column]);
        return text;
    }
}

static void put_entry(struct lk_buf *out, const struct bench_entry *entry, bool modelled)
{
    char text[REPORT_UNIT];
    lk_buf_printf(out, "<tr><td>");
    lk_buf_html(out, entry->name);
    lk_buf_printf(out, "%s</td>", entry->peer ? " <span class=\"dim\">peer</span>" : "");
    if (entry->state != BENCH_MEASURED) {
        lk_buf_printf(out, "<td colspan=\"%d\" class=\"%s\">%s: ", COLUMNS,
                      entry->state == BENCH_WRONG ? "fault" : "dim",
                      entry->state == BENCH_WRONG ? "wrong" : "skipped");
        lk_buf_html(out, entry->message);
        lk_buf_printf(out, "</td></tr>\n");
        return;
    }
    for (enum column column = 0; column < COLUMNS; column++)
        if (column_title(column, modelled))
            lk_buf_printf(out, "<td class=\"number\">%s</td>", column_text(text, column, entry));
    lk_buf_printf(out, "<td class=\"dim\">");
    lk_buf_html(out, entry->version);
    lk_buf_printf(out, "</td></tr>\n");
}

static void put_result(struct lk_buf *out, const struct bench_report *report,
                       const struct bench_result *result)
{
    lk_buf_printf(out, "<h2>");
    lk_buf_html(out, result->family->name);
    lk_buf_printf(out, " <span class=\"dim\">");
    lk_buf_html(out, result->text);
    lk_buf_printf(out, "</span></h2>\n<table><tr><th></th>");
    bool modelled = report->place->modelled;
    for (enum column column = 0; column < COLUMNS; column++)
        if (column_title(column, modelled))
            lk_buf_printf(out, "<th class=\"number\">%s</th>", column_title(column, modelled));
    lk_buf_printf(out, "<th></th></tr>\n");
    for (size_t i = 0; i < result->count; i++)
        put_entry(out, &result->entries[i], modelled);
    lk_buf_printf(out, "</table>\n");
    if (result->verified_on || result->remarks) {
        lk_buf_printf(out, "<p class=\"dim\">");
        if (result->verified_on)
            lk_buf_printf(out, "Compared with the reference on %s. ", result->verified_on);
        lk_buf_html(out, result->remarks);
        lk_buf_printf(out, "</p>\n");
    }
    put_bars(out, result);
}

void bench_report_html(struct lk_buf *out, const struct bench_report *report)
{
    const struct bench_place *place = report->place;
    lk_buf_printf(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
                       "name=\"viewport\" content=\"width=device-width\"><title>lockstep bench"
                       "</title><style>\n");
    lk_buf_add(out, report_page_style, strlen(report_page_style));
    lk_buf_printf(out, "</style></head><body>\n<h1>");
    lk_buf_html(out, place->name);
    lk_buf_printf(out, "</h1><p class=\"dim\">");
    lk_buf_html(out, place->driver);
    if (place->info)
        lk_buf_printf(out, "; %.0f GB/s by its datasheet", place->info->memory_gb_s);
    if (place->copy_gb_s > 0)
        lk_buf_printf(out, "; %.0f GB/s measured in a copy", place->copy_gb_s);
    lk_buf_printf(out, "; %skernels by ", place->modelled ? "all times are modelled; " : "");
    lk_buf_html(out, report->compiler);
    lk_buf_printf(out, "; commit %s; %s</p>\n", report->commit, report->date);
    for (size_t i = 0; i < report->count; i++)
        if (report->results[i].count)
            put_result(out, report, &report->results[i]);
    lk_buf_printf(out, "</body></html>\n");
}
