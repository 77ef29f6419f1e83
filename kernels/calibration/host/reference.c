/*
 * reference.c: calibration in plain C. Scales are exact but for AWQ's, whose powers of means are
 * within 1e-5: errors are the same f32 differences as the kernels', added in f64, and a candidate
 * must be better by more than what the order of additions can change.
 */
#include "calibration.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

struct group {
    int64_t from, length;
};
static struct group group_at(const struct cal_groups *g, int64_t number)
{
    if (g->per_row == 0)
        return (struct group){0, g->rows * g->cols};
    int64_t row = number / g->per_row, col = number % g->per_row * g->length;
    int64_t end = col + g->length < g->cols ? col + g->length : g->cols;
    return (struct group){row * g->cols + col, end - col};
}

static float size_at(const struct cal_groups *g, const void *x, int64_t i)
{
    float size = fabsf((float)zoo_get(g->type, x, (size_t)i));
    return size < INFINITY ? size : 0;
}

static float largest(const struct cal_groups *g, const void *x, struct group at)
{
    float size = 0;
    for (int64_t i = 0; i < at.length; i++)
        size = fmaxf(size, size_at(g, x, at.from + i));
    return size;
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float percentile(const struct cal_groups *g, const void *x, struct group at)
{
    float *sizes = lk_alloc((size_t)(at.length + 1) * sizeof *sizes), found = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < at.length; i++)
        if (isfinite(zoo_get(g->type, x, (size_t)(at.from + i))))
            sizes[count++] = size_at(g, x, at.from + i);
    qsort(sizes, (size_t)count, sizeof *sizes, compare);
    int64_t kept = (int64_t)ceil((double)count * ((double)g->percent / 100));
    if (kept > 0)
        found = sizes[kept - 1];
    free(sizes);
    return found;
}

/* One number's share of the error. */
static double error_of(enum number_format format, float x, float factor, float scale)
{
    if (!isfinite(x))
        return 0;
    float back = format_number(format, format_nearest(format, x * factor)) * scale;
    float d = x - back;
    return (double)d * (double)d;
}

static float best_scale(const struct cal_groups *g, const void *x, struct group at)
{
    float target = format_facts[g->format].largest, size = largest(g, x, at), best = 0;
    double least = INFINITY;
    for (int r = 0; r < CAL_RATIOS; r++) {
        float part = size * ((float)(80 - r) / 80.0F);
        float scale = format_scale(target, part), factor = 1 / scale;
        double error = 0;
        for (int64_t i = 0; i < at.length; i++)
            error += error_of(g->format, (float)zoo_get(g->type, x, (size_t)(at.from + i)), factor,
                              scale);
        if (r == 0 || error < least * (1 - 0x1p-20)) {
            least = error;
            best = scale;
        }
    }
    return best;
}

/* AWQ -------------------------------------------------------------------------------------------*/

static void centre_logs(const struct cal_groups *g, const float *means, double *logs)
{
    double most = 0, least = INFINITY;
    for (int64_t j = 0; j < g->cols; j++) {
        most = fmax(most, fabs((double)means[j]));
        logs[j] = 0;
    }
    if (!(most > 0x1p-100))
        return;
    for (int64_t j = 0; j < g->cols; j++) {
        double mean = fmax(fabs((double)means[j]), most * 0x1p-20);
        least = fmin(least, mean);
        logs[j] = log2(mean);
    }
    double middle = 0.5 * (log2(most) + log2(least));
    for (int64_t j = 0; j < g->cols; j++)
        logs[j] -= middle;
}

static double awq_error(const struct cal_groups *g, const void *w, const float *means,
                        const float *scales)
{
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (g->rows * g->cols > 100000)
    for (int64_t number = 0; number < g->count; number++) {
        struct group at = group_at(g, number);
        float size = 0;
        for (int64_t i = at.from; i < at.from + at.length; i++) {
            float scaled = fabsf((float)zoo_get(g->type, w, (size_t)i) * scales[i % g->cols]);
            size = scaled < INFINITY ? fmaxf(size, scaled) : size;
        }
        float target = format_facts[g->format].largest;
        float factor = format_factor(target, size), scale = format_scale(target, size);
        for (int64_t i = at.from; i < at.from + at.length; i++) {
            float s = scales[i % g->cols];
            double weight = (double)(means[i % g->cols] / s);
            sum += error_of(g->format, (float)zoo_get(g->type, w, (size_t)i) * s, factor, scale) *
                   weight * weight;
        }
    }
    return sum;
}

static void awq(const struct cal_groups *g, const void *w, const float *means,
                struct zoo_expected *expected)
{
    double *logs = lk_alloc((size_t)(g->cols + 1) * sizeof *logs), least = INFINITY;
    float *scales = lk_alloc((size_t)(g->cols + 1) * sizeof *scales);
    centre_logs(g, means, logs);
    for (int e = 0; e < CAL_EXPONENTS; e++) {
        for (int64_t j = 0; j < g->cols; j++)
            scales[j] = (float)exp2(logs[j] * ((double)e / CAL_EXPONENTS));
        double error = awq_error(g, w, means, scales);
        if (e > 0 && !(error < least * (1 - 0x1p-10)))
            continue;
        least = error;
        for (int64_t j = 0; j < g->cols; j++) {
            expected->value[j] = (double)scales[j];
            expected->bound[j] = 1e-5 * (double)scales[j];
        }
    }
    free(scales);
    free(logs);
}

void cal_reference(const struct zoo_problem *problem, void *const *buffer,
                   struct zoo_expected *expected)
{
    struct cal_groups g = cal_groups_of(problem);
    const void *x = buffer[CAL_X];
    if (g.method == CAL_AWQ) {
        awq(&g, x, buffer[CAL_MEANS], &expected[CAL_OUT]);
        return;
    }
    float target = format_facts[g.format].largest;
#pragma omp parallel for schedule(static) if (g.rows * g.cols > 10000)
    for (int64_t number = 0; number < g.count; number++) {
        struct group at = group_at(&g, number);
        float scale = g.method == CAL_MSE          ? best_scale(&g, x, at)
                      : g.method == CAL_PERCENTILE ? format_scale(target, percentile(&g, x, at))
                                                   : format_scale(target, largest(&g, x, at));
        expected[CAL_OUT].value[number] = (double)scale;
    }
}
