/*
 * svg_roofline.c: kernels under a GPU's roof, on logarithmic axes; see svg.h.
 */
#include "report/svg.h"

#include "base/text.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>

enum { PLOT_LEFT = 62, PLOT_TOP = 14, PLOT_WIDTH = 420, PLOT_HEIGHT = 220 };
#define MOST_INTENSITY 4096.0

struct plot {
    double low, high; /* operations a second at the bottom and the top */
};

static double plot_x(double intensity)
{
    double place =
        log2(intensity / SVG_LEAST_INTENSITY) / log2(MOST_INTENSITY / SVG_LEAST_INTENSITY);
    place = place < 0 ? 0 : place > 1 ? 1 : place;
    return PLOT_LEFT + place * PLOT_WIDTH;
}

static double plot_y(const struct plot *plot, double rate)
{
    double place = rate > 0 ? log10(rate / plot->low) / log10(plot->high / plot->low) : 0;
    place = place < 0 ? 0 : place > 1 ? 1 : place;
    return PLOT_TOP + (1 - place) * PLOT_HEIGHT;
}

static void put_axes(struct lk_buf *out, const struct plot *plot)
{
    char text[REPORT_UNIT];
    int decades = (int)(log10(plot->high / plot->low) + 0.001);
    for (int i = 1; i <= decades; i++) {
        double rate = plot->low * pow(10, i), y = plot_y(plot, rate);
        lk_buf_printf(out,
                      "<path class=\"grid\" fill=\"none\" stroke=\"#999\" d=\"M%d %.1fh%d\"/>"
                      "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                      PLOT_LEFT, y, PLOT_WIDTH, PLOT_LEFT - 6, y + 4, report_count(text, rate));
    }
    for (int i = -1; i <= 3; i++) {
        double intensity = pow(8, i), x = plot_x(intensity);
        lk_buf_printf(out,
                      "<path class=\"grid\" fill=\"none\" stroke=\"#999\" d=\"M%.1f %dv%d\"/>"
                      "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.4g</text>\n",
                      x, PLOT_TOP, PLOT_HEIGHT, x, PLOT_TOP + PLOT_HEIGHT + 16, intensity);
    }
    lk_buf_printf(out,
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">operations a second over "
                  "operations per byte of DRAM</text>\n",
                  PLOT_LEFT + PLOT_WIDTH / 2, PLOT_TOP + PLOT_HEIGHT + 34);
}

/* One roof: bandwidth up to the ridge, then flat. */
static void put_roof(struct lk_buf *out, const struct plot *plot, double bandwidth, double peak,
                     const char *name)
{
    double ridge = peak / bandwidth;
    lk_buf_printf(
        out, "<path class=\"roof\" fill=\"none\" stroke=\"#06c\" d=\"M%.1f %.1fL%.1f %.1fH%d\"/>",
        plot_x(SVG_LEAST_INTENSITY), plot_y(plot, SVG_LEAST_INTENSITY * bandwidth), plot_x(ridge),
        plot_y(plot, peak), PLOT_LEFT + PLOT_WIDTH);
    lk_buf_printf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s %.3g TFLOP/s</text>\n",
                  PLOT_LEFT + PLOT_WIDTH, plot_y(plot, peak) - 4, name, peak / 1e12);
}

void svg_roofline(struct lk_buf *out, const struct profile_launch *launch)
{
    const struct gpu_info *gpu = launch->gpu;
    const struct gpu_model *model = &launch->model;
    double bandwidth = gpu->memory_gb_s * 1e9;
    bool tensor = launch->counters.tensor_flops > 0;
    double peak = (tensor ? gpu->tensor_f16 : gpu->f32_tflops) * 1e12;
    struct plot plot = {1e9, pow(10, ceil(log10(peak * 3)))};
    double intensity = model->bytes > 0 ? model->flops / model->bytes : MOST_INTENSITY;
    intensity = intensity < SVG_LEAST_INTENSITY ? SVG_LEAST_INTENSITY : intensity;
    double roof = intensity * bandwidth < peak ? intensity * bandwidth : peak;
    double x = plot_x(intensity), y = plot_y(&plot, roof * model->roof);
    lk_buf_printf(out,
                  "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" "
                  "aria-label=\"roofline\">\n",
                  PLOT_LEFT + PLOT_WIDTH + 14, PLOT_TOP + PLOT_HEIGHT + 42);
    put_axes(out, &plot);
    put_roof(out, &plot, bandwidth, gpu->f32_tflops * 1e12, "f32");
    if (tensor)
        put_roof(out, &plot, bandwidth, peak, "f16 tensor");
    lk_buf_printf(out, "<path class=\"drop\" fill=\"none\" stroke=\"#999\" d=\"M%.1f %.1fV%.1f\"/>",
                  x, y, plot_y(&plot, roof));
    lk_buf_printf(out, "<circle class=\"here\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>", x, y);
    bool right = x > PLOT_LEFT + PLOT_WIDTH * 0.67;
    lk_buf_printf(out,
                  "<text class=\"strong\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%.0f %% of "
                  "the roof</text>\n</svg>\n",
                  x + (right ? -10 : 10), y + 4, right ? "end" : "start", 100 * model->roof);
}

/* Several points ----------------------------------------------------------------------------------
 */

struct placed {
    double x, y, label_y;
    const char *label;
};

static int from_the_top(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    return (a->y > b->y) - (a->y < b->y);
}

/* Labels of near points are moved apart, downwards. */
static void place(const struct plot *plot, const struct svg_point *points, size_t count,
                  struct placed *placed)
{
    for (size_t i = 0; i < count; i++) {
        double y = plot_y(plot, points[i].rate);
        placed[i] = (struct placed){plot_x(points[i].intensity), y, y + 4, points[i].label};
    }
    qsort(placed, count, sizeof *placed, from_the_top);
    for (size_t i = 1; i < count; i++)
        if (placed[i].label_y < placed[i - 1].label_y + 12)
            placed[i].label_y = placed[i - 1].label_y + 12;
}

void svg_roofline_points(struct lk_buf *out, const struct gpu_info *gpu,
                         const struct svg_roof *roofs, size_t roof_count,
                         const struct svg_point *points, size_t count)
{
    double peak = 0, low = 1e9;
    for (size_t i = 0; i < roof_count; i++)
        peak = roofs[i].peak > peak ? roofs[i].peak : peak;
    for (size_t i = 0; i < count; i++)
        while (points[i].rate > 0 && points[i].rate < low && low > 1)
            low /= 10;
    struct plot plot = {low, pow(10, ceil(log10(peak * 3)))};
    struct placed *placed = lk_alloc((count + 1) * sizeof *placed);
    place(&plot, points, count, placed);
    double bottom = PLOT_TOP + PLOT_HEIGHT + 42;
    if (count && placed[count - 1].label_y + 8 > bottom)
        bottom = placed[count - 1].label_y + 8;
    lk_buf_printf(
        out,
        "<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
        "role=\"img\" aria-label=\"roofline of %s\">\n",
        PLOT_LEFT + PLOT_WIDTH + 14, bottom, gpu->name);
    lk_buf_printf(out, "<style>text{font:11px system-ui,sans-serif}.here{fill:#d64028}"
                       ".grid{stroke:#d8dee4}.roof{stroke-width:2}</style>\n"
                       "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    put_axes(out, &plot);
    for (size_t i = 0; i < roof_count; i++)
        put_roof(out, &plot, gpu->memory_gb_s * 1e9, roofs[i].peak, roofs[i].unit);
    for (size_t i = 0; i < count; i++) {
        bool right = placed[i].x > PLOT_LEFT + PLOT_WIDTH * 0.67;
        lk_buf_printf(out,
                      "<circle class=\"here\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>"
                      "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                      placed[i].x, placed[i].y, placed[i].x + (right ? -8 : 8), placed[i].label_y,
                      right ? "end" : "start");
        lk_buf_html(out, placed[i].label);
        lk_buf_printf(out, "</text>\n");
    }
    lk_buf_printf(out, "</svg>\n");
    free(placed);
}
