/*
 * report.h: what make quality prints and draws: tables in Markdown, and a picture.
 */
#ifndef LOCKSTEP_QUALITY_REPORT_H
#define LOCKSTEP_QUALITY_REPORT_H

#include "quality.h"

#include <stdio.h>

/* Errors of heads, for each format of K and each of V. */
struct report_grid {
    double *error[QUALITY_FORMATS][QUALITY_FORMATS]; /* [room] */
    size_t count, room;
};
bool report_alloc(struct report_grid *grid, size_t room);
void report_free(struct report_grid *grid);
/* A case's heads in every combination; `q` in f32, and the reference over k and v as they are. */
bool report_add(struct report_grid *grid, const struct quality_case *c);
/* Rows are formats of K, columns those of V: the middle head, or the worst. */
void report_grid(FILE *to, struct report_grid *grid, bool worst);

/* Curves of the picture: x, then the errors with K and with V disturbed. */
enum { REPORT_POINTS = 12 };
struct report_curve {
    size_t points;
    double x[REPORT_POINTS], k[REPORT_POINTS], v[REPORT_POINTS];
};
/* Two panels: error over noise, and error over the size of scores. */
void report_draw(FILE *to, const struct report_curve *noise, const struct report_curve *scores);

#endif
