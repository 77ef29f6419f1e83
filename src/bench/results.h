/*
 * results.h: ways to show what was measured: a table on a terminal, JSON, CSV, one HTML page.
 */
#ifndef LOCKSTEP_BENCH_RESULTS_H
#define LOCKSTEP_BENCH_RESULTS_H

#include "bench/bench.h"
#include "report/report.h"

#include <jansson.h>

/* Everything of one run of the command. */
struct bench_report {
    const struct bench_place *place;
    const char *commit, *compiler;
    char date[32]; /* "2026-11-15T08:03:14Z" */
    struct bench_result *results;
    size_t count;
};

void bench_report_begin(struct bench_report *report, const struct bench_place *place);
struct bench_result *bench_report_add(struct bench_report *report);
void bench_report_free(struct bench_report *report);

void bench_print_place(FILE *out, const struct report_paint *paint,
                       const struct bench_report *report);
void bench_print_result(FILE *out, const struct report_paint *paint,
                        const struct bench_place *place, const struct bench_result *result);
json_t *bench_report_json(const struct bench_report *report);
void bench_report_csv(struct lk_buf *out, const struct bench_report *report);
void bench_report_html(struct lk_buf *out, const struct bench_report *report);

/* In 1e12 operations a second, of the unit of a bench_result. */
double bench_peak(const struct gpu_info *gpu, const char *unit);

/* Where the contestants that have operations and bytes stand under the roof of their GPU, which
 * place->info must know. */
bool bench_has_roofline(const struct bench_report *report); /* is there any? */
void bench_print_roofline(FILE *out, const struct report_paint *paint,
                          const struct bench_report *report);
json_t *bench_roofline_json(const struct bench_report *report);
void bench_roofline_svg(struct lk_buf *out, const struct bench_report *report);

/* Is there an entry in this state? */
bool bench_report_has(const struct bench_report *report, enum bench_state state);

#endif
