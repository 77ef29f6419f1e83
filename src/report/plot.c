/*
 * plot.c: plots on a terminal; see plot.h.
 */
#include "report/plot.h"

#include <math.h>
#include <string.h>

static double scaled(double value, double low, double high, bool logarithmic)
{
    if (logarithmic)
        return value > 0 ? log(value / low) / log(high / low) : -1;
    return (value - low) / (high - low);
}

/* The cell of a point; false if it lies outside. */
static bool find_cell(const struct report_plot *plot, double x, double y, int *row, int *column)
{
    double across = scaled(x, plot->x_low, plot->x_high, plot->log_x);
    double up = scaled(y, plot->y_low, plot->y_high, plot->log_y);
    if (!(across >= -0.001 && across <= 1.001 && up >= -0.001 && up <= 1.001))
        return false;
    *column = (int)lround(across * (PLOT_COLUMNS - 1));
    *row = PLOT_ROWS - 1 - (int)lround(up * (PLOT_ROWS - 1));
    *column = *column < 0 ? 0 : *column >= PLOT_COLUMNS ? PLOT_COLUMNS - 1 : *column;
    *row = *row < 0 ? 0 : *row >= PLOT_ROWS ? PLOT_ROWS - 1 : *row;
    return true;
}

static double between(double from, double to, double share, bool logarithmic)
{
    return logarithmic ? from * pow(to / from, share) : from + (to - from) * share;
}

void report_plot_line(struct report_plot *plot, double x0, double y0, double x1, double y1,
                      char with)
{
    enum { STEPS = 4 * PLOT_COLUMNS };
    for (int i = 0; i <= STEPS; i++) {
        int row, column;
        double share = (double)i / STEPS;
        if (find_cell(plot, between(x0, x1, share, plot->log_x),
                      between(y0, y1, share, plot->log_y), &row, &column) &&
            !plot->cells[row][column])
            plot->cells[row][column] = with;
    }
}

static bool is_line(char cell)
{
    return cell == 0 || strchr("-/|.:", cell);
}

void report_plot_mark(struct report_plot *plot, double x, double y, char mark)
{
    int row, column;
    if (!find_cell(plot, x, y, &row, &column))
        return;
    while (column < PLOT_COLUMNS && !is_line(plot->cells[row][column]))
        column++;
    if (column < PLOT_COLUMNS)
        plot->cells[row][column] = mark;
}

static void print_x_axis(FILE *out, const struct report_paint *paint,
                         const struct report_plot *plot)
{
    enum { LABELS = 4 };
    char text[REPORT_UNIT], line[PLOT_COLUMNS + REPORT_UNIT];
    memset(line, ' ', sizeof line);
    for (int i = 0; i <= LABELS; i++) {
        double value = between(plot->x_low, plot->x_high, (double)i / LABELS, plot->log_x);
        report_count(text, value);
        if (value < 1)
            snprintf(text, sizeof text, "%.3g", value);
        size_t length = strlen(text);
        int at = i * (PLOT_COLUMNS - 1) / LABELS - (i == LABELS ? (int)length - 1 : 0);
        for (size_t k = 0; k < length; k++)
            line[at + (int)k] = text[k];
    }
    fprintf(out, "%s%9s +", paint->dim, "");
    for (int i = 0; i < PLOT_COLUMNS; i++)
        fputc('-', out);
    fprintf(out, "\n%11s%.*s\n%11s%s%s\n", "", PLOT_COLUMNS, line, "", plot->x_title, paint->plain);
}

void report_plot_print(FILE *out, const struct report_paint *paint, const struct report_plot *plot)
{
    char text[REPORT_UNIT];
    const char *(*words)(char *, double) = plot->y_text ? plot->y_text : report_count;
    fprintf(out, "%s%s%s\n", paint->dim, plot->y_title, paint->plain);
    for (int row = 0; row < PLOT_ROWS; row++) {
        double share = (double)(PLOT_ROWS - 1 - row) / (PLOT_ROWS - 1);
        bool labelled = row % 4 == 0 || row == PLOT_ROWS - 1;
        fprintf(out, "%s%9s |%s", paint->dim,
                labelled ? words(text, between(plot->y_low, plot->y_high, share, plot->log_y)) : "",
                paint->plain);
        for (int column = 0; column < PLOT_COLUMNS; column++) {
            char cell = plot->cells[row][column];
            bool mark = cell && !is_line(cell);
            fprintf(out, "%s%c%s", mark ? paint->bold : "", cell ? cell : ' ',
                    mark ? paint->plain : "");
        }
        fputc('\n', out);
    }
    print_x_axis(out, paint, plot);
}

void report_sparkline(FILE *out, const double *values, size_t count)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    for (size_t i = 0; i < count; i++) {
        /* Changes of a few percent are not blown up to the whole height. */
        double range = high - low > 0.1 * high ? high - low : 0.1 * high;
        int level = range > 0 ? (int)((values[i] - low) / range * 7.999) : 0;
        fputs(blocks[level < 0 ? 0 : level > 7 ? 7 : level], out);
    }
}
