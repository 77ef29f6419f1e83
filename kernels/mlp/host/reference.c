/*
 * reference.c: an MLP in f64, forward and backward, and how far off the kernels may be. Every
 * number comes with its error: what the roundings to the type between two products do to it is
 * carried through the next product, term by term.
 */
#include "mlp.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* Numbers and their errors; error NULL: none. */
struct matrix {
    int64_t rows, cols;
    double *value, *error;
};

static struct matrix make(int64_t rows, int64_t cols, bool with_error)
{
    size_t bytes = (size_t)(rows * cols + 1) * sizeof(double);
    struct matrix m = {rows, cols, lk_alloc_zeroed(bytes), NULL};
    if (with_error)
        m.error = lk_alloc_zeroed(bytes);
    return m;
}

static void release(struct matrix *m)
{
    free(m->value);
    free(m->error);
}

/* by_columns: element [r][c] lies at c * rows + r. */
static struct matrix read(enum zoo_type type, const void *data, int64_t rows, int64_t cols,
                          bool by_columns)
{
    struct matrix m = make(rows, cols, false);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            m.value[r * cols + c] =
                zoo_get(type, data, (size_t)(by_columns ? c * rows + r : r * cols + c));
    return m;
}

static struct matrix turned(const struct matrix *m)
{
    struct matrix t = make(m->cols, m->rows, m->error != NULL);
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            t.value[c * m->rows + r] = m->value[r * m->cols + c];
            if (m->error)
                t.error[c * m->rows + r] = m->error[r * m->cols + c];
        }
    return t;
}

/* By one rounding to the type. */
static double rounding(enum zoo_type type, double x)
{
    return zoo_precisions[type].unit * 1.01 * fabs(x) + zoo_precisions[type].least;
}

/* a b, rounded to the type and then, with a bias, once more: as separate kernels have it. b's lines
 * along k are rows of b_turned. At most one of the two has errors. */
static struct matrix multiply(enum zoo_type type, const struct matrix *a,
                              const struct matrix *b_turned, const struct matrix *bias)
{
    int64_t k = a->cols;
    struct matrix out = make(a->rows, b_turned->rows, true);
    const double *errors = a->error ? a->error : b_turned->error;
#pragma omp parallel for schedule(static) collapse(2) if (out.rows * out.cols * k > 100000)
    for (int64_t r = 0; r < out.rows; r++)
        for (int64_t c = 0; c < out.cols; c++) {
            const double *x = a->value + r * k, *w = b_turned->value + c * k;
            const double *with = a->error ? w : x, *e = NULL;
            double sum = 0, size = 0, carried = 0;
            if (errors)
                e = errors + (a->error ? r : c) * k;
            for (int64_t i = 0; i < k; i++) {
                sum += x[i] * w[i];
                size += fabs(x[i] * w[i]);
                if (e)
                    carried += e[i] * fabs(with[i]);
            }
            double value = sum + (bias ? bias->value[c] : 0);
            out.value[r * out.cols + c] = value;
            /* Tensor cores cut at 24 bits with every step of k. */
            out.error[r * out.cols + c] =
                carried + ((double)k + 8) * 0x1p-23 * (size + carried) +
                rounding(type, fabs(value) + carried) +
                (bias ? rounding(type, fabs(sum) + carried) + 0x1p-23 * fabs(value) : 0);
        }
    return out;
}

/* The function, its slope, and what activations.h may be off by; moved: the argument's error. */
struct point {
    double value, slope, value_off, slope_off;
};
static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}
static struct point point_of(int function, double x, double moved)
{
    /* Slopes are below 1.13 and change by at most 1.13 as x moves by 1; the functions' own errors
     * are kernels/activation/README.md's. */
    double wide = 1 + fmin(fabs(x), 16), off = 1.13 * moved + 0x1p-21 * fabs(x);
    double value_off = off + 2e-7 * wide, slope_off = 1.13 * moved + 4e-7 * wide;
    if (function == MLP_GELU) {
        double normal = 0.5 * erfc(-x * M_SQRT1_2);
        return (struct point){x * normal, normal + x * exp(-x * x / 2) / sqrt(2 * M_PI), value_off,
                              slope_off};
    }
    if (function == MLP_SILU)
        return (struct point){x * logistic(x), logistic(x) + x * logistic(x) * logistic(-x),
                              value_off, slope_off};
    double scale = 2 * sqrt(2 / M_PI), z = scale * (x + 0.044715 * x * x * x), s = logistic(z);
    return (struct point){x * s, s + x * s * logistic(-z) * scale * (1 + 3 * 0.044715 * x * x),
                          value_off, slope_off};
}

/* Where a hidden unit's two numbers lie in a row of `wide`. */
static int64_t place_of(const struct mlp_shape *s, int64_t unit)
{
    return s->gate == MLP_PAIRS ? 2 * unit : unit;
}
static int64_t place_of_up(const struct mlp_shape *s, int64_t unit)
{
    return s->gate == MLP_PAIRS ? 2 * unit + 1 : s->hidden + unit;
}

static struct matrix activate(const struct mlp_shape *s, const struct matrix *pre)
{
    struct matrix a = make(s->tokens, s->hidden, true);
    for (int64_t r = 0; r < s->tokens; r++)
        for (int64_t c = 0; c < s->hidden; c++) {
            int64_t at = r * s->wide + place_of(s, c), out = r * s->hidden + c;
            struct point p = point_of(s->function, pre->value[at], pre->error ? pre->error[at] : 0);
            double value = p.value, error = p.value_off;
            if (s->gate) {
                int64_t up_at = r * s->wide + place_of_up(s, c);
                double up = pre->value[up_at], up_error = pre->error ? pre->error[up_at] : 0;
                value *= up;
                error = fabs(p.value) * up_error + p.value_off * (fabs(up) + up_error) +
                        0x1p-22 * fabs(value);
            }
            a.value[out] = value;
            a.error[out] = error + rounding(s->type, fabs(value) + error);
        }
    return a;
}

/* The gradient of what went into the activation. */
static struct matrix slopes(const struct mlp_shape *s, const struct matrix *pre,
                            const struct matrix *da)
{
    struct matrix d = make(s->tokens, s->wide, true);
    for (int64_t r = 0; r < s->tokens; r++)
        for (int64_t c = 0; c < s->hidden; c++) {
            int64_t at = r * s->wide + place_of(s, c), from = r * s->hidden + c;
            struct point p = point_of(s->function, pre->value[at], 0);
            double up = 1, g = da->value[from], off = da->error[from];
            if (s->gate) {
                int64_t up_at = r * s->wide + place_of_up(s, c);
                up = pre->value[up_at];
                d.value[up_at] = g * p.value;
                double error = off * fabs(p.value) + (fabs(g) + off) * p.value_off +
                               0x1p-22 * fabs(g * p.value);
                d.error[up_at] = error + rounding(s->type, fabs(g * p.value) + error);
            }
            double value = g * p.slope * up;
            double error =
                (off * (fabs(p.slope) + p.slope_off) + fabs(g) * p.slope_off) * fabs(up) +
                0x1p-21 * fabs(value);
            d.value[at] = value;
            d.error[at] = error + rounding(s->type, fabs(value) + error);
        }
    return d;
}

static struct matrix sum_rows(enum zoo_type type, const struct matrix *m)
{
    struct matrix sums = make(1, m->cols, true);
    for (int64_t c = 0; c < m->cols; c++) {
        double sum = 0, size = 0, carried = 0;
        for (int64_t r = 0; r < m->rows; r++) {
            sum += m->value[r * m->cols + c];
            size += fabs(m->value[r * m->cols + c]);
            carried += m->error ? m->error[r * m->cols + c] : 0;
        }
        sums.value[c] = sum;
        sums.error[c] = carried + (double)m->rows * 0x1p-24 * (size + carried) +
                        rounding(type, fabs(sum) + carried);
    }
    return sums;
}

static void expect(struct zoo_expected *expected, const struct matrix *m, bool by_columns)
{
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            int64_t at = by_columns ? c * m->rows + r : r * m->cols + c;
            expected->value[at] = m->value[r * m->cols + c];
            expected->bound[at] = m->error[r * m->cols + c];
        }
}

static void forward(const struct mlp_shape *s, void *const *buffer, struct zoo_expected *expected)
{
    struct matrix x = read(s->type, buffer[MLP_X], s->tokens, s->dim, false);
    /* A matrix that lies by columns is its transpose by rows: the lines along k. */
    struct matrix w1 = read(s->type, buffer[MLP_W1], s->wide, s->dim, !s->by_columns);
    struct matrix w2 = read(s->type, buffer[MLP_W2], s->dim, s->hidden, !s->by_columns);
    struct matrix b1 = make(1, s->wide, false), b2 = make(1, s->dim, false);
    for (int64_t i = 0; s->bias && i < s->wide; i++)
        b1.value[i] = zoo_get(s->type, buffer[MLP_B1], (size_t)i);
    for (int64_t i = 0; s->bias && i < s->dim; i++)
        b2.value[i] = zoo_get(s->type, buffer[MLP_B2], (size_t)i);
    struct matrix pre = multiply(s->type, &x, &w1, s->bias ? &b1 : NULL);
    struct matrix a = activate(s, &pre);
    struct matrix y = multiply(s->type, &a, &w2, s->bias ? &b2 : NULL);
    expect(&expected[MLP_Y], &y, false);
    if (s->keep)
        expect(&expected[MLP_PRE], &pre, false);
    struct matrix *all[] = {&x, &w1, &w2, &b1, &b2, &pre, &a, &y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        release(all[i]);
}

static void backward(const struct mlp_shape *s, void *const *buffer, struct zoo_expected *expected)
{
    struct matrix x_turned = read(s->type, buffer[MLP_X], s->dim, s->tokens, true);
    struct matrix w1 = read(s->type, buffer[MLP_W1], s->dim, s->wide, s->by_columns);
    struct matrix w2 = read(s->type, buffer[MLP_W2], s->hidden, s->dim, s->by_columns);
    struct matrix pre = read(s->type, buffer[MLP_BACK_PRE], s->tokens, s->wide, false);
    struct matrix dy = read(s->type, buffer[MLP_DY], s->tokens, s->dim, false);
    struct matrix dy_turned = turned(&dy), a = activate(s, &pre), a_turned = turned(&a);
    struct matrix da = multiply(s->type, &dy, &w2, NULL); /* dy w2^T */
    struct matrix dpre = slopes(s, &pre, &da), dpre_turned = turned(&dpre);
    struct matrix dx = multiply(s->type, &dpre, &w1, NULL);
    struct matrix dw1 = multiply(s->type, &x_turned, &dpre_turned, NULL);
    struct matrix dw2 = multiply(s->type, &a_turned, &dy_turned, NULL);
    struct matrix db1 = sum_rows(s->type, &dpre), db2 = sum_rows(s->type, &dy);
    expect(&expected[MLP_DX], &dx, false);
    expect(&expected[MLP_DW1], &dw1, s->by_columns);
    expect(&expected[MLP_DW2], &dw2, s->by_columns);
    if (s->bias) {
        expect(&expected[MLP_DB1], &db1, false);
        expect(&expected[MLP_DB2], &db2, false);
    }
    struct matrix *all[] = {&x_turned, &w1,          &w2, &pre, &dy,  &dy_turned, &a,   &a_turned,
                            &da,       &dpre_turned, &dx, &dw1, &dw2, &db1,       &db2, &dpre};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        release(all[i]);
}

void mlp_reference(const struct zoo_problem *problem, void *const *buffer,
                   struct zoo_expected *expected)
{
    struct mlp_shape shape = mlp_shape_of(problem);
    if (shape.backward)
        backward(&shape, buffer, expected);
    else
        forward(&shape, buffer, expected);
}
