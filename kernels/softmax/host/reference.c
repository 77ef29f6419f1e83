/*
 * reference.c: data for softmax, and what must come out, in double. Bounds name what each rounding
 * of the kernels may cost: they compute in f32 and store in the type of the problem.
 */
#include "softmax.h"

#include <math.h>
#include <stdlib.h>

static const double unit = 0x1p-24;        /* half a unit of an f32 in its last place, relative */
static const double power_error = 0x1p-22; /* of 2^x by one instruction */
static const double smallest = 0x1p-126;   /* what is smaller may become 0 */

/* Data
 * ----------------------------------------------------------------------------------------------*/

static double logit(const struct zoo_problem *problem, int64_t row, int64_t col)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, 1e4, -1e4, 0x1p-149, -0.0};
    uint64_t at = (uint64_t)row * (uint64_t)problem->value[SM_COLS] + (uint64_t)col;
    uint64_t dice = zoo_random(problem->seed, 1, at);
    double x = 8 * zoo_random_unit(problem->seed, 0, at) - 4;
    switch (problem->distribution) {
    case SOFTMAX_LARGE: /* exp of these overflows, and so do many of their differences */
        return 250 * x;
    case SOFTMAX_ONE_HUGE: /* as large as its type allows, nearly */
        return col == (row * 7) % problem->value[SM_COLS]
                   ? (softmax_type(problem) == ZOO_F16 ? 60000 : 3e38)
                   : x;
    case SOFTMAX_MINUS_INFINITY: /* a third of the rows is nothing else */
        return row % 3 == 0 || dice % 4 == 0 ? -INFINITY : x;
    case SOFTMAX_TINY:
        return x * (softmax_type(problem) == ZOO_F16 ? 0x1p-20 : 0x1p-130);
    case SOFTMAX_SPECIAL: /* the first rows have none */
        return row > 1 && dice % 61 == 0 ? special[dice / 61 % 7] : x;
    default:
        return x;
    }
}

static void generate_masks(const struct zoo_problem *problem, void **buffer)
{
    const int64_t *v = problem->value;
    int64_t groups = (v[SM_ROWS] + v[SM_GROUP] - 1) / v[SM_GROUP];
    if (v[SM_MASK] & MASK_PADDING) /* from below 0 to above all columns */
        for (int64_t i = 0; i < groups; i++)
            ((int32_t *)buffer[SM_LENGTHS])[i] =
                (int32_t)(zoo_random(problem->seed, 2, (uint64_t)i) % (uint64_t)(v[SM_COLS] + 4)) -
                2;
    if (v[SM_MASK] & MASK_ADDITIVE && v[SM_STEP] == STEP_FORWARD)
        for (int64_t i = 0; i < v[SM_GROUP] * v[SM_COLS]; i++)
            zoo_put(softmax_type(problem), buffer[SM_SECOND], (size_t)i,
                    zoo_random(problem->seed, 3, (uint64_t)i) % 8 == 0
                        ? -INFINITY
                        : 4 * zoo_random_unit(problem->seed, 4, (uint64_t)i) - 2);
}

/* A row of doubles becomes its softmax, or the logarithm of that; the rest of cols is not seen. */
static double normalise(double *x, int64_t end, int64_t cols, bool log_too)
{
    double most = -INFINITY, sum = 0;
    for (int64_t k = 0; k < end; k++)
        most = x[k] > most || isnan(x[k]) ? x[k] : most;
    double base = most == -INFINITY ? 0 : most;
    for (int64_t k = 0; k < end; k++)
        sum += exp(x[k] - base);
    for (int64_t k = 0; k < cols; k++) {
        double distance = k < end ? x[k] - base : -INFINITY;
        if (log_too)
            x[k] = distance - (sum == 0 ? 0 : log(sum));
        else
            x[k] = sum == 0 ? 0 : exp(distance) / sum;
        if (isnan(sum))
            x[k] = NAN;
    }
    return base + log(sum);
}

/* The output that a gradient begins with, as it was stored. */
static void generate_outputs(const struct zoo_problem *problem, void **buffer)
{
    const int64_t *v = problem->value;
#pragma omp parallel for schedule(static) if (v[SM_ROWS] * v[SM_COLS] > 100000)
    for (int64_t row = 0; row < v[SM_ROWS]; row++) {
        double *x = malloc(sizeof *x * (size_t)(v[SM_COLS] + 1));
        for (int64_t k = 0; k < v[SM_COLS]; k++)
            x[k] = logit(problem, row, k);
        normalise(x, softmax_visible(problem, buffer[SM_LENGTHS], row), v[SM_COLS],
                  v[SM_OP] == OP_LOG_SOFTMAX);
        for (int64_t k = 0; k < v[SM_COLS]; k++) {
            size_t at = (size_t)(row * v[SM_COLS] + k);
            zoo_put(softmax_type(problem), buffer[SM_IN], at, x[k]);
            zoo_put(softmax_type(problem), buffer[SM_SECOND], at,
                    2 * zoo_random_unit(problem->seed, 5, at) - 1);
        }
        free(x);
    }
}

void softmax_generate(const struct zoo_problem *problem, void **buffer)
{
    int64_t rows = problem->value[SM_ROWS], cols = problem->value[SM_COLS];
    generate_masks(problem, buffer);
    if (problem->value[SM_STEP] == STEP_BACKWARD) {
        generate_outputs(problem, buffer);
        return;
    }
#pragma omp parallel for schedule(static) if (rows * cols > 100000)
    for (int64_t row = 0; row < rows; row++)
        for (int64_t k = 0; k < cols; k++)
            zoo_put(softmax_type(problem), buffer[SM_IN], (size_t)(row * cols + k),
                    logit(problem, row, k));
}

/* Bounds
 * --------------------------------------------------------------------------------------------*/

/* What storing a value may cost. */
static double stored(enum zoo_type type, double value)
{
    double size = fabs(value);
    return type == ZOO_BF16  ? 0x1p-8 * size
           : type == ZOO_F16 ? 0x1p-11 * size + 0x1p-25
                             : unit * size;
}

/* Errors of a row that all its results share. */
struct row_errors {
    double value; /* absolute, of a value, where a bias was added */
    double sum;   /* relative, of the sum */
};

/* x holds the row's values. Each power is off by its own error and by that of its exponent; the sum
 * by its terms', and by additions in an unknown order, like a random walk. */
static struct row_errors errors_of_row(const struct zoo_problem *problem, const double *x,
                                       int64_t end)
{
    double most = -INFINITY, sum = 0, weighted = 0, largest = 0;
    for (int64_t k = 0; k < end; k++)
        most = fmax(most, x[k]);
    for (int64_t k = 0; k < end; k++) {
        if (!isfinite(x[k]))
            continue;
        sum += exp(x[k] - most);
        weighted += (most - x[k]) * exp(x[k] - most);
        largest = fmax(largest, fabs(x[k]));
    }
    struct row_errors errors = {0};
    if (problem->value[SM_MASK] & MASK_ADDITIVE)
        errors.value = 2 * unit * largest;
    errors.sum = 4 * power_error + 4 * unit * sqrt((double)end + 1);
    if (sum > 0)
        errors.sum += 4 * unit * weighted / sum;
    errors.sum += errors.value;
    return errors;
}

static void expect_row(const struct zoo_problem *problem, const double *x, const double *values,
                       int64_t row, struct row_errors errors, double base, struct zoo_expected *out)
{
    int64_t cols = problem->value[SM_COLS];
    enum zoo_type type = softmax_type(problem);
    for (int64_t k = 0; k < cols; k++) {
        size_t at = (size_t)(row * cols + k);
        double value = x[k], distance = fabs(values[k] - base);
        double exponent = errors.value + (isfinite(distance) ? 4 * unit * distance : 0);
        out->value[at] = value;
        if (!isfinite(value))
            continue;
        out->bound[at] = problem->value[SM_OP] == OP_LOG_SOFTMAX
                             ? exponent + errors.sum + power_error + stored(type, value)
                             : value * (exponent + errors.sum + 2 * power_error) +
                                   stored(type, value) + smallest;
    }
}

static void reference_forward(const struct zoo_problem *problem, void *const *buffer,
                              struct zoo_expected *out)
{
    int64_t rows = problem->value[SM_ROWS], cols = problem->value[SM_COLS];
    int64_t group = problem->value[SM_GROUP];
    bool biased = problem->value[SM_MASK] & MASK_ADDITIVE;
    double scale = zoo_as_float(problem->value[SM_SCALE]);
    enum zoo_type type = softmax_type(problem);
#pragma omp parallel for schedule(static) if (rows * cols > 100000)
    for (int64_t row = 0; row < rows; row++) {
        double *values = calloc(2 * (size_t)(cols + 1), sizeof *values), *x = values + cols + 1;
        int64_t end = softmax_visible(problem, buffer[SM_LENGTHS], row);
        double base = -INFINITY;
        for (int64_t k = 0; k < cols; k++) {
            values[k] = scale * zoo_get(type, buffer[SM_IN], (size_t)(row * cols + k));
            if (biased)
                values[k] += zoo_get(type, buffer[SM_SECOND], (size_t)(row % group * cols + k));
            base = k < end ? fmax(base, values[k]) : base;
            x[k] = values[k];
        }
        struct row_errors errors = errors_of_row(problem, values, end);
        double sum = normalise(x, end, cols, problem->value[SM_OP] == OP_LOG_SOFTMAX);
        if (problem->value[SM_OP] == OP_LOG_SUM_EXP) {
            out->value[row] = sum;
            out->bound[row] = isfinite(sum) ? errors.sum + power_error + errors.value +
                                                  4 * unit * (fabs(base) + fabs(sum))
                                            : 0;
        } else {
            expect_row(problem, x, values, row, errors, base, out);
        }
        free(values);
    }
}

static void reference_backward(const struct zoo_problem *problem, void *const *buffer,
                               struct zoo_expected *out)
{
    int64_t rows = problem->value[SM_ROWS], cols = problem->value[SM_COLS];
    double scale = zoo_as_float(problem->value[SM_SCALE]);
    bool is_log = problem->value[SM_OP] == OP_LOG_SOFTMAX;
    enum zoo_type type = softmax_type(problem);
#pragma omp parallel for schedule(static) if (rows * cols > 100000)
    for (int64_t row = 0; row < rows; row++) {
        int64_t end = softmax_visible(problem, buffer[SM_LENGTHS], row);
        double sum = 0, magnitudes = 0;
        for (int64_t k = 0; k < end; k++) {
            size_t at = (size_t)(row * cols + k);
            double y = zoo_get(type, buffer[SM_IN], at), dy = zoo_get(type, buffer[SM_SECOND], at);
            double term = is_log ? dy : y * dy;
            sum += term;
            magnitudes += fabs(term);
        }
        double sum_error = 4 * unit * sqrt((double)end + 1) * magnitudes;
        for (int64_t k = 0; k < end; k++) {
            size_t at = (size_t)(row * cols + k);
            double y = zoo_get(type, buffer[SM_IN], at), dy = zoo_get(type, buffer[SM_SECOND], at);
            double factor = is_log ? exp(y) : y;
            double power = is_log && isfinite(y) ? power_error + 4 * unit * fabs(y) : 0;
            double value = scale * (is_log ? dy - factor * sum : factor * (dy - sum));
            double each = is_log ? factor * (sum_error + power * fabs(sum)) +
                                       2 * unit * (fabs(dy) + factor * fabs(sum))
                                 : factor * (sum_error + 4 * unit * (fabs(dy) + fabs(sum)));
            out->value[at] = value;
            out->bound[at] = fabs(scale) * each + stored(type, value) + smallest;
        }
    }
}

void softmax_reference(const struct zoo_problem *problem, void *const *buffer,
                       struct zoo_expected *expected)
{
    if (problem->value[SM_STEP] == STEP_BACKWARD)
        reference_backward(problem, buffer, &expected[SM_OUT]);
    else
        reference_forward(problem, buffer, &expected[SM_OUT]);
}
