/*
 * plot.h: plots on a terminal: a grid of characters with two axes, linear or logarithmic, and lines
 * of blocks for a few values in a row.
 */
#ifndef LOCKSTEP_REPORT_PLOT_H
#define LOCKSTEP_REPORT_PLOT_H

#include "report/report.h"

enum { PLOT_COLUMNS = 70, PLOT_ROWS = 18 };

struct report_plot {
    double x_low, x_high, y_low, y_high; /* high above low; above 0 where logarithmic */
    bool log_x, log_y;
    const char *x_title, *y_title;
    const char *(*y_text)(char buf[REPORT_UNIT], double value); /* NULL: report_count */
    char cells[PLOT_ROWS][PLOT_COLUMNS];                        /* 0: empty; the top row first */
};

/* Outside of the plot nothing is drawn. A mark goes over a line; where
 * another mark is, it goes beside it. */
void report_plot_line(struct report_plot *plot, double x0, double y0, double x1, double y1,
                      char with);
void report_plot_mark(struct report_plot *plot, double x, double y, char mark);
void report_plot_print(FILE *out, const struct report_paint *paint, const struct report_plot *plot);

/* One block for each value, from the lowest to the highest. */
void report_sparkline(FILE *out, const double *values, size_t count);

#endif
