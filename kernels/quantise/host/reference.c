/*
 * reference.c: both directions on the CPU, with the arithmetic that the kernels promise: scales,
 * factors and products are single f32 operations, so every bit of a result is known.
 */
#include "quantise.h"

#include <math.h>
#include <stdlib.h>

enum { X, Q, SCALES, TENSOR_SCALE };

/* Where the scale of a number is. */
static size_t place_of_scale(const struct zoo_problem *problem, const struct q_layout *of,
                             int64_t row, int64_t col)
{
    if (of->block)
        return (size_t)(row * ((problem->value[Q_COLS] + of->block - 1) / of->block) +
                        col / of->block);
    int64_t by = problem->value[Q_SCALES];
    return (size_t)(by == Q_ROW ? row : by == Q_CHANNEL ? col : 0);
}

/* The largest finite size of each scale's numbers, and of all. Rows have scales of their own unless
 * a scale is for columns, or for all. */
static float find_largest(const struct zoo_problem *problem, const void *x, float *of_scale)
{
    struct q_layout of = q_layout(problem);
    int64_t rows = problem->value[Q_ROWS], cols = problem->value[Q_COLS];
    bool apart = of.block || problem->value[Q_SCALES] == Q_ROW;
    float of_all = 0;
#pragma omp parallel for schedule(static) reduction(max : of_all) if (apart && rows * cols > 100000)
    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < cols; col++) {
            float size = fabsf((float)zoo_get(of.type, x, (size_t)(row * cols + col)));
            float *here = &of_scale[place_of_scale(problem, &of, row, col)];
            if (isfinite(size)) {
                *here = fmaxf(*here, size);
                of_all = fmaxf(of_all, size);
            }
        }
    return of_all;
}

/* From the largest numbers to the factors, and to what is stored. */
static void make_scales(const struct zoo_problem *problem, void *const *buffer, float *of_scale,
                        float of_all, struct zoo_expected *expected)
{
    struct q_layout of = q_layout(problem);
    const struct format_facts *facts = &format_facts[of.numbers];
    bool given = problem->value[Q_SOURCE] == Q_GIVEN;
    float encode = 1;
    if (of.two_levels) {
        encode = given ? 1 / ((const float *)buffer[TENSOR_SCALE])[0]
                       : format_factor(FORMAT_NVFP4_LARGEST, of_all);
        if (!given)
            expected[TENSOR_SCALE].value[0] = (double)format_scale(FORMAT_NVFP4_LARGEST, of_all);
    }
    for (size_t i = 0; i < of.scales; i++) {
        float largest = of_scale[i];
        if (of.floats && given) {
            of_scale[i] = 1 / ((const float *)buffer[SCALES])[i];
        } else if (of.floats) {
            of_scale[i] = format_factor(facts->largest, largest);
            expected[SCALES].value[i] = (double)format_scale(facts->largest, largest);
        } else if (of.powers) {
            uint8_t scale = format_e8m0(largest, facts->top);
            of_scale[i] = ldexpf(1, 127 - scale);
            expected[SCALES].value[i] = scale;
        } else {
            uint8_t scale = format_nvfp4_scale(largest, encode);
            of_scale[i] = format_nvfp4_factor(scale, encode);
            expected[SCALES].value[i] = scale;
        }
    }
}

static void quantise(const struct zoo_problem *problem, void *const *buffer,
                     struct zoo_expected *expected)
{
    struct q_layout of = q_layout(problem);
    int64_t rows = problem->value[Q_ROWS], cols = problem->value[Q_COLS];
    float *factors = calloc(of.scales + 1, sizeof *factors);
    float of_all = find_largest(problem, buffer[X], factors);
    make_scales(problem, buffer, factors, of_all, expected);
#pragma omp parallel for schedule(static) if (rows * cols > 100000)
    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < cols; col++) {
            float x = (float)zoo_get(of.type, buffer[X], (size_t)(row * cols + col)) *
                      factors[place_of_scale(problem, &of, row, col)];
            unsigned code =
                problem->value[Q_ROUNDING] == Q_NEAREST
                    ? format_nearest(of.numbers, x)
                    : format_stochastic(of.numbers, x,
                                        format_random((uint64_t)problem->value[Q_KEY], row, col));
            bool small = format_facts[of.numbers].bits == 4;
            size_t at = (size_t)row * of.row_bytes + (size_t)(small ? col / 2 : col);
            expected[Q].value[at] += small && col % 2 ? 16 * code : code;
        }
    free(factors);
}

static float scale_of(const struct q_layout *of, void *const *buffer, size_t at)
{
    if (of->floats)
        return ((const float *)buffer[SCALES])[at];
    uint8_t scale = ((const uint8_t *)buffer[SCALES])[at];
    return of->powers
               ? format_from_e8m0(scale)
               : format_number(FORMAT_E4M3, scale) * ((const float *)buffer[TENSOR_SCALE])[0];
}

static void dequantise(const struct zoo_problem *problem, void *const *buffer,
                       struct zoo_expected *expected)
{
    struct q_layout of = q_layout(problem);
    int64_t rows = problem->value[Q_ROWS], cols = problem->value[Q_COLS];
    bool small = format_facts[of.numbers].bits == 4;
#pragma omp parallel for schedule(static) if (rows * cols > 100000)
    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < cols; col++) {
            const uint8_t *q = (const uint8_t *)buffer[Q] + (size_t)row * of.row_bytes;
            uint8_t code = small ? q[col / 2] >> col % 2 * 4 & 15 : q[col];
            float x = format_number(of.numbers, code) *
                      scale_of(&of, buffer, place_of_scale(problem, &of, row, col));
            double rounded;
            zoo_put(of.type, &rounded, 0, (double)x);
            expected[X].value[row * cols + col] = zoo_get(of.type, &rounded, 0);
        }
}

void q_reference(const struct zoo_problem *problem, void *const *buffer,
                 struct zoo_expected *expected)
{
    if (problem->value[Q_DIRECTION] == Q_FORWARD)
        quantise(problem, buffer, expected);
    else
        dequantise(problem, buffer, expected);
}
