/*
 * report.c: the tables and the picture.
 */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool report_alloc(struct report_grid *grid, size_t room)
{
    *grid = (struct report_grid){.room = room};
    for (int k = 0; k < QUALITY_FORMATS; k++)
        for (int v = 0; v < QUALITY_FORMATS; v++)
            if (!(grid->error[k][v] = calloc(room, sizeof(double))))
                return false;
    return true;
}

void report_free(struct report_grid *grid)
{
    for (int k = 0; k < QUALITY_FORMATS; k++)
        for (int v = 0; v < QUALITY_FORMATS; v++)
            free(grid->error[k][v]);
    *grid = (struct report_grid){0};
}

bool report_add(struct report_grid *grid, const struct quality_case *c)
{
    size_t keys = (size_t)c->tokens * (size_t)c->kv_heads * (size_t)c->dim;
    size_t all = (size_t)c->tokens * (size_t)c->heads * (size_t)c->dim;
    float *k[QUALITY_FORMATS] = {0}, *v[QUALITY_FORMATS] = {0};
    double *right = malloc(all * sizeof *right), *o = malloc(all * sizeof *o);
    bool fine = right && o && grid->count + (size_t)c->heads <= grid->room;
    for (int i = 0; i < QUALITY_FORMATS && fine; i++) {
        struct quality_scheme scheme = {.format = (enum quality_format)i};
        fine = (k[i] = malloc(keys * sizeof(float))) && (v[i] = malloc(keys * sizeof(float)));
        if (!fine)
            break;
        quality_round(scheme, c->tokens, c->kv_heads, c->dim, c->k, k[i]);
        quality_round(scheme, c->tokens, c->kv_heads, c->dim, c->v, v[i]);
    }
    if (fine) {
        quality_attend(c, c->q, c->k, c->v, right);
        for (int i = 0; i < QUALITY_FORMATS; i++)
            for (int j = 0; j < QUALITY_FORMATS; j++) {
                quality_attend(c, c->q, k[i], v[j], o);
                quality_compare(c, o, right, grid->error[i][j] + grid->count);
            }
        grid->count += (size_t)c->heads;
    }
    for (int i = 0; i < QUALITY_FORMATS; i++) {
        free(k[i]);
        free(v[i]);
    }
    free(right);
    free(o);
    return fine;
}

void report_grid(FILE *to, struct report_grid *grid, bool worst)
{
    fprintf(to, "| K \\ V |");
    for (int v = 0; v < QUALITY_FORMATS; v++)
        fprintf(to, " %s |", quality_format_names[v]);
    fprintf(to, "\n|---|---:|---:|---:|---:|---:|\n");
    for (int k = 0; k < QUALITY_FORMATS; k++) {
        fprintf(to, "| **%s** |", quality_format_names[k]);
        for (int v = 0; v < QUALITY_FORMATS; v++) {
            double largest, middle = quality_middle(grid->error[k][v], grid->count, &largest);
            fprintf(to, " %.2g %% |", 100 * (worst ? largest : middle));
        }
        fprintf(to, "\n");
    }
}

/* The picture -----------------------------------------------------------------------------------*/

enum { LEFT = 70, TOP = 50, WIDTH = 330, HEIGHT = 240, NEXT = 460 };

/* Both axes are powers of two, from low to low + span. */
struct axes {
    double left, x_low, x_span, y_low, y_span;
};
static double x_of(const struct axes *a, double x)
{
    return a->left + (log2(x) - a->x_low) / a->x_span * WIDTH;
}
static double y_of(const struct axes *a, double y)
{
    return TOP + HEIGHT - (log2(y) - a->y_low) / a->y_span * HEIGHT;
}

static void draw_line(FILE *to, const struct axes *a, const struct report_curve *c, const double *y,
                      const char *colour, const char *name)
{
    fprintf(to, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\" points=\"", colour);
    for (size_t i = 0; i < c->points; i++)
        fprintf(to, "%.1f,%.1f ", x_of(a, c->x[i]), y_of(a, y[i]));
    fprintf(to, "\"/>\n");
    for (size_t i = 0; i < c->points; i++)
        fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x_of(a, c->x[i]),
                y_of(a, y[i]), colour);
    fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\" font-weight=\"bold\">%s</text>\n",
            x_of(a, c->x[c->points - 1]) + 7, y_of(a, y[c->points - 1]) + 4, colour, name);
}

static void draw_panel(FILE *to, double left, const struct report_curve *c, const char *title,
                       const char *x_title, bool percent)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < c->points; i++) {
        low = fmin(low, fmin(c->k[i], c->v[i]));
        high = fmax(high, fmax(c->k[i], c->v[i]));
    }
    struct axes a = {left, floor(log2(c->x[0])), 0, floor(log2(low)), 0};
    a.x_span = ceil(log2(c->x[c->points - 1])) - a.x_low;
    a.y_span = ceil(log2(high)) - a.y_low;
    fprintf(to, "<text x=\"%.0f\" y=\"%d\" font-weight=\"bold\">%s</text>\n", left, TOP - 22,
            title);
    fprintf(to, "<text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", left + WIDTH / 2.0,
            TOP + HEIGHT + 42, x_title);
    for (int i = 0; i <= (int)a.x_span; i += a.x_span > 8 ? 2 : 1) {
        double x = exp2(a.x_low + i), at = x_of(&a, x);
        fprintf(to, "<path d=\"M%.1f %d v%d\" stroke=\"#ddd\"/>", at, TOP, HEIGHT);
        fprintf(to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.3g%s</text>\n", at,
                TOP + HEIGHT + 18, percent ? 100 * x : x, percent ? " %" : "");
    }
    for (int i = 0; i <= (int)a.y_span; i += a.y_span > 8 ? 2 : 1) {
        double y = exp2(a.y_low + i), at = y_of(&a, y);
        fprintf(to, "<path d=\"M%.0f %.1f h%d\" stroke=\"#ddd\"/>", left, at, WIDTH);
        fprintf(to, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%.3g %%</text>\n", left - 6,
                at + 4, 100 * y);
    }
    draw_line(to, &a, c, c->k, "#c0392b", "K");
    draw_line(to, &a, c, c->v, "#2471a3", "V");
}

void report_draw(FILE *to, const struct report_curve *noise, const struct report_curve *scores)
{
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n",
            LEFT + NEXT + WIDTH + 40, TOP + HEIGHT + 60);
    fprintf(to, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
    draw_panel(to, LEFT, noise, "Error of the output, by noise in K or in V",
               "noise, of each key's or value's length", true);
    draw_panel(to, LEFT + NEXT, scores, "The same noise (3.1 %), by the size of scores",
               "queries multiplied by", false);
    fprintf(to, "</svg>\n");
}
