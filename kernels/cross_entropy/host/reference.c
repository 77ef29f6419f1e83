/*
 * reference.c: data for cross-entropy, and what must come out, in double. Bounds name what each
 * rounding of the kernels may cost: they compute in f32 and store in the type of the problem.
 */
#include "cross_entropy.h"

#include <math.h>
#include <stdlib.h>

static const double unit = 0x1p-24;        /* half a unit of an f32 in its last place, relative */
static const double power_error = 0x1p-22; /* of 2^x and log2(x) by one instruction */
static const double smallest = 0x1p-126;   /* what is smaller may become 0 */

/* Data ------------------------------------------------------------------------------------------*/

static double logit(const struct zoo_problem *problem, int64_t row, int64_t col)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, 1e4, -1e4, 0x1p-149, -0.0};
    int64_t cols = problem->value[CE_COLS];
    uint64_t at = (uint64_t)row * (uint64_t)cols + (uint64_t)col;
    uint64_t dice = zoo_random(problem->seed, 1, at);
    double x = 8 * zoo_random_unit(problem->seed, 0, at) - 4;
    switch (problem->distribution) {
    case CE_LARGE: /* exp of these overflows, and so do many of their differences */
        return 250 * x;
    case CE_ONE_HUGE:
        return col == row * 7 % cols ? (cross_entropy_type(problem) == ZOO_F16 ? 60000 : 1e30) : x;
    case CE_SPECIAL: /* the first rows have none */
        return row > 1 && dice % 61 == 0 ? special[dice / 61 % 7] : x;
    default:
        return x;
    }
}

static int64_t label_of(const struct zoo_problem *problem, int64_t row)
{
    uint64_t dice = zoo_random(problem->seed, 2, (uint64_t)row);
    int64_t cols = problem->value[CE_COLS], some = (int64_t)(dice >> 8) % (cols ? cols : 1);
    if (problem->distribution == CE_IGNORED) /* the first row; all of a few rows */
        return row == 0 || dice % 2 ? cross_entropy_ignore(problem) : some;
    if (problem->distribution == CE_WRONG_LABELS && row % 3 == 1)
        return row % 2 ? -1 : cols + row;
    return some;
}

void cross_entropy_generate(const struct zoo_problem *problem, void **buffer)
{
    int64_t rows = problem->value[CE_ROWS], cols = problem->value[CE_COLS];
    for (int64_t row = 0; row < rows; row++)
        ((int64_t *)buffer[CE_LABELS])[row] = label_of(problem, row);
#pragma omp parallel for schedule(static) if (rows * cols > 100000)
    for (int64_t row = 0; row < rows; row++)
        for (int64_t k = 0; k < cols; k++)
            zoo_put(cross_entropy_type(problem), buffer[CE_LOGITS], (size_t)(row * cols + k),
                    logit(problem, row, k));
}

/* Reference -------------------------------------------------------------------------------------*/

/* What is known about a row, and how far the kernels may be off. */
struct row {
    double base, sum, mean;               /* the largest, the sum of exp(x - base), the mean of x */
    double sum_error, mean_error, spread; /* the first is relative */
};

/* The longest chain of additions is what a thread has of a row, and some steps more; its error is
 * taken as four times the spread of a random walk. */
static struct row measure(const double *x, int64_t cols)
{
    struct row r = {.base = -INFINITY};
    double weighted = 0, sizes = 0, walk = 4 * unit * sqrt((double)cols / 128 + 64);
    for (int64_t k = 0; k < cols; k++)
        r.base = x[k] > r.base || isnan(x[k]) ? x[k] : r.base;
    r.base = r.base == -INFINITY ? 0 : r.base;
    for (int64_t k = 0; k < cols; k++) {
        double power = exp(x[k] - r.base);
        r.sum += power;
        weighted += power > 0 ? (r.base - x[k]) * power : 0;
        r.mean += x[k] / (double)cols;
        sizes += fabs(x[k]) / (double)cols;
    }
    r.sum_error = 4 * power_error + walk + 4 * unit * weighted / r.sum;
    r.mean_error = walk * sizes;
    return r;
}

static void expect(struct zoo_expected *expected, size_t at, double value, double error)
{
    expected->value[at] = value;
    expected->bound[at] = isfinite(value) && isfinite(error) ? error : 0;
}

/* Returns the loss, and its bound by *error. */
static double expect_row(const struct zoo_problem *problem, const double *x, int64_t row,
                         int64_t label, double share, struct zoo_expected *expected, double *error)
{
    int64_t cols = problem->value[CE_COLS];
    bool ignored = label == cross_entropy_ignore(problem), wrong = label < 0 || label >= cols;
    double s = zoo_as_float(problem->value[CE_SMOOTHING]);
    double g = zoo_as_float(problem->value[CE_SCALE]) * share;
    const struct zoo_precision *of = &zoo_precisions[cross_entropy_type(problem)];
    struct row r = measure(x, cols);
    for (int64_t k = 0; k < cols && problem->value[CE_STEP] == STEP_FUSED; k++) {
        double p = exp(x[k] - r.base) / r.sum, distance = fabs(x[k] - r.base);
        double value = g * (p - s / (double)cols - (k == label ? 1 - s : 0));
        double relative = r.sum_error + 3 * power_error + (p > 0 ? 4 * unit * distance : 0);
        double sizes = p + s / (double)cols + (k == label ? 1 : 0);
        value = ignored ? 0 : wrong ? NAN : value;
        expect(&expected[CE_LOGITS], (size_t)(row * cols + k), value,
               g * (p * relative + 4 * unit * sizes) + of->unit * 1.01 * fabs(value) + of->least +
                   smallest);
    }
    double log_sum = r.base + log(r.sum), at_label = wrong ? 0 : x[label];
    double loss = log_sum - (1 - s) * at_label - (s == 0 ? 0 : s * r.mean);
    *error = r.sum_error + 2 * power_error * fabs(log(r.sum)) +
             4 * unit * (fabs(r.base) + fabs(log_sum) + fabs(at_label) + s * fabs(r.mean)) +
             s * r.mean_error;
    loss = ignored ? 0 : wrong ? NAN : loss;
    *error = ignored ? 0 : *error;
    expect(&expected[CE_LOSSES], (size_t)row, loss, *error);
    return loss;
}

void cross_entropy_reference(const struct zoo_problem *problem, void *const *buffer,
                             struct zoo_expected *expected)
{
    int64_t rows = problem->value[CE_ROWS], cols = problem->value[CE_COLS], count = 0;
    const int64_t *labels = buffer[CE_LABELS];
    for (int64_t row = 0; row < rows; row++)
        count += labels[row] != cross_entropy_ignore(problem);
    double share = problem->value[CE_REDUCE] == REDUCE_MEAN ? 1 / (double)count : 1;
    double total = 0, errors = 0, sizes = 0;
#pragma omp parallel for schedule(static) reduction(+ : total, errors, sizes) if (rows * cols > 100000)
    for (int64_t row = 0; row < rows; row++) {
        double *x = malloc(sizeof *x * (size_t)(cols + 1)), error;
        for (int64_t k = 0; k < cols; k++)
            x[k] =
                zoo_get(cross_entropy_type(problem), buffer[CE_LOGITS], (size_t)(row * cols + k));
        double loss = expect_row(problem, x, row, labels[row], share, expected, &error);
        total += loss;
        errors += error;
        sizes += fabs(loss);
        free(x);
    }
    double walk = 4 * unit * sqrt((double)rows / 1024 + 16);
    expect(&expected[CE_TOTAL], 0, total * share, (errors + walk * sizes) * share);
}
