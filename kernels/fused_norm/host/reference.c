/*
 * reference.c: data and reference: the chain up to the residual in f32 with every rounding as
 * chain.h has it, so that the sum is exact; what becomes of it by the reference of the norms.
 */
#include "fused_norm.h"

#include "base/arena.h"
#include "norm.h"
#include "norm_row.h"
#include "zoo/philox.h"

#include <math.h>
#include <stdlib.h>

/* The problem of family rmsnorm or layernorm that follows the sum, or comes before its gradient. */
static struct zoo_problem norm_of(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    bool backward = fn_is_backward(problem);
    struct zoo_problem norm =
        zoo_problem_normal(fn_is_layer(problem) ? &zoo_layernorm : &zoo_rmsnorm);
    norm.value[NORM_ROWS] = v[FN_ROWS];
    norm.value[NORM_COLS] = v[FN_COLS];
    norm.value[NORM_TYPE] = v[FN_TYPE]; /* both count bf16, f16, f32 */
    norm.value[NORM_STEP] = backward ? STEP_BACKWARD : STEP_FORWARD;
    norm.value[NORM_RESIDUAL] = backward && v[FN_DSUM];
    norm.value[NORM_STATS] = !backward;
    norm.value[NORM_EPS] = v[FN_EPS];
    return norm;
}

void fn_generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = problem->family->shape(problem, buffers);
    int stats = fn_at(problem, FN_STATS_IN), sum = fn_at(problem, FN_SUM_IN);
    int64_t rows = problem->value[FN_ROWS], cols = problem->value[FN_COLS];
    for (unsigned i = 0; i < count; i++) {
        if (buffers[i].role == ZOO_IN && buffers[i].type == ZOO_I64)
            for (size_t k = 0; k < 2; k++)
                ((int64_t *)buffer[i])[k] = (int64_t)zoo_random(problem->seed, 9, k);
        else if (buffers[i].role == ZOO_IN && (int)i != stats)
            zoo_fill(problem, i, buffers[i].type, buffer[i], buffers[i].count);
    }
    struct zoo_problem norm = norm_of(problem);
    double *x = lk_alloc((size_t)(cols + 1) * sizeof *x);
    for (int64_t row = 0; stats >= 0 && cols > 0 && row < rows;
         row++) { /* as forward would have left them */
        for (int64_t k = 0; k < cols; k++)
            x[k] = zoo_get(fn_type(problem), buffer[sum], (size_t)(row * cols + k));
        struct norm_row m = norm_measure(&norm, x);
        float *to = buffer[stats];
        if (fn_is_layer(problem))
            to[row] = (float)m.mean;
        to[row + (fn_is_layer(problem) ? rows : 0)] = (float)m.rstd;
    }
    free(x);
}

/* What of an element is kept: 0, or 1 / (1 - p). */
struct mask {
    struct zoo_dropout d;
    uint64_t seed, offset;
};
static struct mask mask_of(const struct zoo_problem *problem, void *const *buffer)
{
    struct mask m = {zoo_dropout_of((double)zoo_as_float(problem->value[FN_P])), problem->seed,
                     (uint64_t)problem->value[FN_OFFSET]};
    int state = fn_at(problem, FN_STATE_IN);
    if (state >= 0) {
        m.seed += ((const uint64_t *)buffer[state])[0];
        m.offset += ((const uint64_t *)buffer[state])[1];
    }
    return m;
}
static bool is_dropped(const struct mask *m, int64_t i)
{
    return zoo_dropped(m->d, m->seed, m->offset, (uint64_t)i);
}

static void forward(const struct zoo_problem *problem, void *const *buffer,
                    struct zoo_expected *expected)
{
    enum zoo_type type = fn_type(problem);
    int64_t cols = problem->value[FN_COLS], n = problem->value[FN_ROWS] * cols;
    int x = fn_at(problem, FN_X), bias = fn_at(problem, FN_BIAS);
    int residual = fn_at(problem, FN_RESIDUAL), out = fn_at(problem, FN_SUM);
    struct mask m = mask_of(problem, buffer);
    void *sum = lk_alloc((size_t)(n + 4) * zoo_type_bytes[type]);
#pragma omp parallel for schedule(static) if (n > 100000)
    for (int64_t i = 0; i < n; i++) {
        float with = (float)zoo_get(type, buffer[x], (size_t)i) +
                     (float)zoo_get(type, buffer[bias], (size_t)(i % cols));
        float kept = is_dropped(&m, i) ? 0 : with * (float)m.d.scale;
        float all = kept + (float)zoo_get(type, buffer[residual], (size_t)i);
        zoo_put(type, sum, (size_t)i, (double)all);
        expected[out].value[i] = zoo_get(type, sum, (size_t)i);
    }
    struct zoo_problem norm = norm_of(problem);
    void *given[ZOO_BUFFERS] = {0};
    struct zoo_expected of_norm[ZOO_BUFFERS] = {0};
    given[norm_at(&norm, NORM_X)] = sum;
    given[norm_at(&norm, NORM_GAMMA)] = buffer[fn_at(problem, FN_GAMMA)];
    if (fn_is_layer(problem))
        given[norm_at(&norm, NORM_BETA)] = buffer[fn_at(problem, FN_BETA)];
    of_norm[norm_at(&norm, NORM_Y)] = expected[fn_at(problem, FN_Y)];
    of_norm[norm_at(&norm, NORM_STATS_OUT)] = expected[fn_at(problem, FN_STATS)];
    norm_reference(&norm, given, of_norm);
    free(sum);
}

/* dx = D(dresidual), and its sums over rows. */
static void expect_dx(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    const struct zoo_precision *of = &zoo_precisions[fn_type(problem)];
    int64_t rows = problem->value[FN_ROWS], cols = problem->value[FN_COLS];
    struct zoo_expected *from = &expected[fn_at(problem, FN_DRESIDUAL)];
    struct zoo_expected *dx = &expected[fn_at(problem, FN_DX)];
    struct zoo_expected *dbias = &expected[fn_at(problem, FN_DBIAS)];
    struct mask m = mask_of(problem, buffer);
#pragma omp parallel for schedule(static) if (rows * cols > 100000)
    for (int64_t col = 0; col < cols; col++) {
        double sum = 0, size = 0, off = 0;
        for (int64_t i = col; i < rows * cols; i += cols) {
            double scale = is_dropped(&m, i) ? 0 : (double)m.d.scale;
            double value = scale == 0 ? 0 : scale * from->value[i];
            dx->value[i] = fabs(value) >= of->most ? copysign(INFINITY, value) : value;
            dx->bound[i] =
                scale * from->bound[i] + (of->unit * 1.01 + 0x1p-23) * fabs(value) + of->least;
            sum += value;
            size += fabs(value);
            off += dx->bound[i];
        }
        dbias->value[col] = fabs(sum) >= of->most ? copysign(INFINITY, sum) : sum;
        dbias->bound[col] = off + (double)rows * 0x1p-24 * (size + off) +
                            of->unit * 1.01 * (fabs(sum) + off) + of->least;
    }
}

static void backward(const struct zoo_problem *problem, void *const *buffer,
                     struct zoo_expected *expected)
{
    struct zoo_problem norm = norm_of(problem);
    void *given[ZOO_BUFFERS] = {0};
    struct zoo_expected of_norm[ZOO_BUFFERS] = {0};
    given[norm_at(&norm, NORM_X)] = buffer[fn_at(problem, FN_SUM_IN)];
    given[norm_at(&norm, NORM_GAMMA)] = buffer[fn_at(problem, FN_GAMMA)];
    given[norm_at(&norm, NORM_DY)] = buffer[fn_at(problem, FN_DY)];
    given[norm_at(&norm, NORM_STATS_IN)] = buffer[fn_at(problem, FN_STATS_IN)];
    if (problem->value[FN_DSUM])
        given[norm_at(&norm, NORM_DSUM)] = buffer[fn_at(problem, FN_DSUM_IN)];
    of_norm[norm_at(&norm, NORM_DX)] = expected[fn_at(problem, FN_DRESIDUAL)];
    of_norm[norm_at(&norm, NORM_DGAMMA)] = expected[fn_at(problem, FN_DGAMMA)];
    if (fn_is_layer(problem))
        of_norm[norm_at(&norm, NORM_DBETA)] = expected[fn_at(problem, FN_DBETA)];
    norm_reference(&norm, given, of_norm);
    expect_dx(problem, buffer, expected);
}

void fn_reference(const struct zoo_problem *problem, void *const *buffer,
                  struct zoo_expected *expected)
{
    if (problem->value[FN_COLS] == 0)
        return;
    if (fn_is_backward(problem))
        backward(problem, buffer, expected);
    else
        forward(problem, buffer, expected);
}
