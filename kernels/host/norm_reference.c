/*
 * norm_reference.c: what must come out of norms, in double. Bounds name what each rounding of the
 * kernels may cost: they compute in f32 and store in the type of the problem. The longest chain of
 * additions is what a thread has of a row and some steps more; its error is taken as four times
 * the spread of a random walk.
 */
#include "norm_row.h"

#include <math.h>
#include <stdlib.h>

static const double unit = 0x1p-24;       /* half a unit of an f32 in its last place, relative */
static const double root_error = 0x1p-22; /* of 1 / sqrt(x) by one instruction, and its argument */

struct norm_row norm_measure(const struct zoo_problem *problem, const double *x)
{
    int64_t cols = problem->value[NORM_COLS];
    double sum = 0, sizes = 0, squares = 0;
    struct norm_row row = {0};
    for (int64_t k = 0; k < cols; k++) {
        sum += x[k];
        sizes += fabs(x[k]);
    }
    row.mean = norm_is_layer(problem) ? sum / (double)cols : 0;
    row.size = sizes / (double)cols;
    for (int64_t k = 0; k < cols; k++)
        squares += (x[k] - row.mean) * (x[k] - row.mean);
    row.rstd = 1 / sqrt(squares / (double)cols + (double)zoo_as_float(problem->value[NORM_EPS]));
    return row;
}

static double walk(double additions)
{
    return 4 * unit * sqrt(additions);
}
static double walk_along_row(const struct zoo_problem *problem)
{
    return walk((double)problem->value[NORM_COLS] / 128 + 32);
}

/* A result and its bound: `error` before it is stored in its type. */
static void expect(struct zoo_expected *expected, size_t at, enum zoo_type type, double value,
                   double error)
{
    if (type == ZOO_E4M3) {
        value = fabs(value) > 448 ? copysign(448, value) : value;
        expected->value[at] = value;
        expected->bound[at] = error + fabs(value) * 0x1p-4 + 0x1p-10;
        return;
    }
    const struct zoo_precision *of = &zoo_precisions[type];
    expected->value[at] = fabs(value) >= of->most ? copysign(INFINITY, value) : value;
    expected->bound[at] = error * 1.01 + of->unit * 1.01 * fabs(value) + of->least;
}

/* Forward ---------------------------------------------------------------------------------------*/

struct forward {
    const struct zoo_problem *problem;
    void *const *buffer;
    struct zoo_expected *expected;
    int residual, gamma, beta, y, sum, stats;
};

static double parameter(const struct forward *f, int buffer, int64_t col, double otherwise)
{
    return buffer < 0 ? otherwise : zoo_get(norm_type(f->problem), f->buffer[buffer], (size_t)col);
}

/* What is normalised. A sum is rounded to f32 and then to its type, as the kernels do it. */
static void row_values(const struct forward *f, int64_t row, double *x)
{
    enum zoo_type type = norm_type(f->problem);
    int64_t cols = f->problem->value[NORM_COLS];
    for (int64_t k = 0; k < cols; k++) {
        size_t at = (size_t)(row * cols + k);
        x[k] = zoo_get(type, f->buffer[0], at);
        if (f->residual < 0)
            continue;
        float sum = (float)x[k] + (float)zoo_get(type, f->buffer[f->residual], at);
        uint32_t stored;
        zoo_put(type, &stored, 0, sum);
        x[k] = zoo_get(type, &stored, 0);
        f->expected[f->sum].value[at] = x[k];
    }
}

static void expect_row(const struct forward *f, int64_t row, const double *x)
{
    const struct zoo_problem *problem = f->problem;
    bool fp8 = problem->value[NORM_STORE] == STORE_E4M3, layer = norm_is_layer(problem);
    int64_t rows = problem->value[NORM_ROWS], cols = problem->value[NORM_COLS];
    double scale = fp8 ? zoo_as_float(problem->value[NORM_SCALE]) : 1;
    struct norm_row m = norm_measure(problem, x);
    double sum_error = walk_along_row(problem), mean_error = layer ? sum_error * m.size : 0;
    /* Distances of the threads' means, each rounded, enter the squares once. */
    double square_error =
        sum_error + 8 * unit * fabs(m.mean) * m.rstd + mean_error * m.rstd * mean_error * m.rstd;
    double root = square_error / 2 + root_error;
    for (int64_t k = 0; k < cols; k++) {
        double g = parameter(f, f->gamma, k, 1), b = parameter(f, f->beta, k, 0);
        double h = (x[k] - m.mean) * m.rstd;
        double error = m.rstd * mean_error + fabs(h) * (root + 4 * unit);
        error = error * fabs(g) + 2 * unit * (fabs(h * g) + fabs(b));
        expect(&f->expected[f->y], (size_t)(row * cols + k), fp8 ? ZOO_E4M3 : norm_type(problem),
               (h * g + b) * scale, isnan(error) ? 0 : error * scale);
    }
    if (f->stats < 0)
        return;
    struct zoo_expected *stats = &f->expected[f->stats];
    size_t at = (size_t)(row + (layer ? rows : 0));
    expect(stats, at, ZOO_F32, m.rstd, m.rstd * (root + 2 * unit));
    if (layer) /* of a row with an infinity, whose deviation is NaN, NaN as well */
        expect(stats, (size_t)row, ZOO_F32, isnan(m.rstd) ? NAN : m.mean,
               mean_error + 2 * unit * fabs(m.mean));
}

static void reference_forward(const struct zoo_problem *problem, void *const *buffer,
                              struct zoo_expected *expected)
{
    struct forward f = {problem,
                        buffer,
                        expected,
                        norm_at(problem, NORM_RESIDUAL_IN),
                        norm_at(problem, NORM_GAMMA),
                        norm_at(problem, NORM_BETA),
                        norm_at(problem, NORM_Y),
                        norm_at(problem, NORM_SUM),
                        norm_at(problem, NORM_STATS_OUT)};
    int64_t rows = problem->value[NORM_ROWS], cols = problem->value[NORM_COLS];
#pragma omp parallel for schedule(static) if (rows * cols > 100000)
    for (int64_t row = 0; row < rows; row++) {
        double *x = malloc(sizeof *x * (size_t)(cols + 1));
        row_values(&f, row, x);
        expect_row(&f, row, x);
        free(x);
    }
}

/* Backward --------------------------------------------------------------------------------------*/

struct backward {
    const struct zoo_problem *problem;
    void *const *buffer;
    int gamma, dy, dsum, stats;
};

/* One number's h = (x - mean) rstd, dy, and dy gamma. */
struct terms {
    double h, dy, w;
};
static struct terms terms_at(const struct backward *b, int64_t row, int64_t col)
{
    const struct zoo_problem *problem = b->problem;
    enum zoo_type type = norm_type(problem);
    int64_t rows = problem->value[NORM_ROWS], cols = problem->value[NORM_COLS];
    const float *stats = b->buffer[b->stats];
    bool layer = norm_is_layer(problem);
    size_t at = (size_t)(row * cols + col);
    double mean = layer ? stats[row] : 0, rstd = stats[row + (layer ? rows : 0)];
    double dy = zoo_get(type, b->buffer[b->dy], at);
    double gamma = b->gamma < 0 ? 1 : zoo_get(type, b->buffer[b->gamma], (size_t)col);
    return (struct terms){(zoo_get(type, b->buffer[0], at) - mean) * rstd, dy, dy * gamma};
}

static void expect_dx(const struct backward *b, int64_t row, struct zoo_expected *dx)
{
    const struct zoo_problem *problem = b->problem;
    int64_t rows = problem->value[NORM_ROWS], cols = problem->value[NORM_COLS];
    bool layer = norm_is_layer(problem);
    double rstd = ((const float *)b->buffer[b->stats])[row + (layer ? rows : 0)];
    double mean_wh = 0, mean_w = 0, size_wh = 0, size_w = 0, n = (double)cols;
    for (int64_t k = 0; k < cols; k++) {
        struct terms t = terms_at(b, row, k);
        mean_wh += t.w * t.h / n;
        size_wh += fabs(t.w * t.h) / n;
        if (layer) {
            mean_w += t.w / n;
            size_w += fabs(t.w) / n;
        }
    }
    double error_wh = walk_along_row(problem) * size_wh, error_w = walk_along_row(problem) * size_w;
    for (int64_t k = 0; k < cols; k++) {
        struct terms t = terms_at(b, row, k);
        size_t at = (size_t)(row * cols + k);
        double add = b->dsum < 0 ? 0 : zoo_get(norm_type(problem), b->buffer[b->dsum], at);
        double value = rstd * (t.w - mean_w - t.h * mean_wh) + add;
        double error = rstd * (error_w + fabs(t.h) * error_wh +
                               6 * unit * (fabs(t.w) + fabs(mean_w) + fabs(t.h * mean_wh)));
        expect(dx, at, norm_type(problem), value, error + unit * fabs(add));
    }
}

static void expect_columns(const struct backward *b, int64_t col, struct zoo_expected *dgamma,
                           struct zoo_expected *dbeta)
{
    enum zoo_type type = norm_type(b->problem);
    int64_t rows = b->problem->value[NORM_ROWS];
    double sum_gamma = 0, sum_beta = 0, size_gamma = 0, size_beta = 0;
    for (int64_t row = 0; row < rows; row++) {
        struct terms t = terms_at(b, row, col);
        sum_gamma += t.dy * t.h;
        size_gamma += fabs(t.dy * t.h);
        sum_beta += t.dy;
        size_beta += fabs(t.dy);
    }
    double each = walk((double)rows + 8);
    expect(dgamma, (size_t)col, type, sum_gamma, (each + 4 * unit) * size_gamma);
    if (dbeta)
        expect(dbeta, (size_t)col, type, sum_beta, each * size_beta);
}

static void reference_backward(const struct zoo_problem *problem, void *const *buffer,
                               struct zoo_expected *expected)
{
    struct backward b = {problem,
                         buffer,
                         norm_at(problem, NORM_GAMMA),
                         norm_at(problem, NORM_DY),
                         norm_at(problem, NORM_DSUM),
                         norm_at(problem, NORM_STATS_IN)};
    int64_t rows = problem->value[NORM_ROWS], cols = problem->value[NORM_COLS];
    int dgamma = norm_at(problem, NORM_DGAMMA), dbeta = norm_at(problem, NORM_DBETA);
#pragma omp parallel for schedule(static) if (rows * cols > 100000)
    for (int64_t row = 0; row < rows; row++)
        expect_dx(&b, row, &expected[norm_at(problem, NORM_DX)]);
#pragma omp parallel for schedule(static) if (rows * cols > 100000)
    for (int64_t col = 0; col < cols; col++)
        if (dgamma >= 0)
            expect_columns(&b, col, &expected[dgamma], dbeta < 0 ? NULL : &expected[dbeta]);
}

void norm_reference(const struct zoo_problem *problem, void *const *buffer,
                    struct zoo_expected *expected)
{
    if (norm_is_backward(problem))
        reference_backward(problem, buffer, expected);
    else
        reference_forward(problem, buffer, expected);
}
