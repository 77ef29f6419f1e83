/*
 * reference.c: what a decode must be, in f64, and how far off it may be. The errors are those of
 * the attention family: scores are sums in f32, weights are rounded to the type of V, the output is
 * rounded once more, and parts that are put together shrink once each.
 */
#include "decode.h"

#include <math.h>
#include <stdlib.h>

#define SINGLE 0x1p-24 /* half a unit of f32 */

/* A row at work. */
struct row {
    const struct zoo_problem *problem;
    void *const *buffer;
    int64_t sequence, head, keys;  /* head of K and V; keys that it sees */
    size_t q;                      /* where it lies in Q and O */
    double scale, *weight, *error; /* [keys]: scores at first */
    double sum, spoiled, most;     /* of the weights, and of weights times their error */
};

static double get(const struct row *r, unsigned buffer, size_t at)
{
    return zoo_get(decode_type(r->problem), r->buffer[buffer], at);
}

static void weigh(struct row *r)
{
    int64_t dim = r->problem->value[DECODE_P_DIM];
    double exact = decode_type(r->problem) == ZOO_F32 ? (double)dim + 2 : (double)dim / 4 + 8;
    r->most = -INFINITY;
    r->sum = r->spoiled = 0;
    for (int64_t j = 0; j < r->keys; j++) {
        size_t k = decode_at(r->problem, r->sequence, r->head, j);
        double sum = 0, size = 0;
        for (int64_t i = 0; i < dim; i++) {
            double product =
                get(r, DECODE_B_Q, r->q + (size_t)i) * get(r, DECODE_B_K, k + (size_t)i);
            sum += product;
            size += fabs(product);
        }
        r->weight[j] = r->scale * sum;
        r->error[j] = r->scale * (exact * SINGLE * size + 2 * SINGLE * fabs(sum));
        r->most = fmax(r->most, r->weight[j]);
    }
    for (int64_t j = 0; j < r->keys; j++) {
        double score = r->weight[j];
        r->weight[j] = exp(score - r->most);
        r->error[j] += 0x1p-21 + 4 * SINGLE * (fabs(r->most) + fabs(score) + fabs(score - r->most));
        r->sum += r->weight[j];
        r->spoiled += r->weight[j] * r->error[j];
    }
}

/* One number of the output, and its bound. */
static void one_number(const struct row *r, int64_t column, double *value, double *bound)
{
    static const double units[] = {0x1p-8, 0x1p-11, SINGLE},
                        least[] = {0x1p-134, 0x1p-25, 0x1p-150};
    int64_t type = r->problem->value[DECODE_P_TYPE];
    double sum = 0, size = 0, square = 0, spoiled = 0, keys = (double)r->keys;
    for (int64_t j = 0; j < r->keys; j++) {
        size_t at = decode_at(r->problem, r->sequence, r->head, j) + (size_t)column;
        double v = get(r, DECODE_B_V, at), w = r->weight[j];
        sum += w * v;
        size += w * fabs(v);
        square += w * w * v * v;
        spoiled += w * r->error[j] * fabs(v);
    }
    bool random =
        r->problem->distribution == DECODE_UNIFORM || r->problem->distribution == DECODE_HUGE;
    double rounded = units[type] * size, walk = 8 * units[type] * sqrt(square);
    if (random && walk < rounded)
        rounded = walk; /* errors of random numbers are a random walk */
    *value = sum / r->sum;
    double error = spoiled + fabs(*value) * r->spoiled + rounded + least[type] * keys;
    error += (keys / 4 + 32) * 2 * SINGLE * size; /* sums over the keys, and shrinking */
    if (type == 2)
        error += keys * SINGLE * size;
    error /= r->sum;
    *bound = error * 1.001 + (fabs(*value) + error) * units[type] * 1.0001 + least[type];
}

static void one_row(const struct zoo_problem *problem, void *const *buffer, int64_t number,
                    struct zoo_expected *expected)
{
    const int64_t *v = problem->value;
    struct decode_arguments g = decode_arguments_of(problem);
    int64_t heads = v[DECODE_P_HEADS] * v[DECODE_P_GROUP], query = number % v[DECODE_P_QUERIES];
    int64_t line = number / v[DECODE_P_QUERIES], head = line % heads, sequence = line / heads;
    int64_t keys = decode_length(problem, sequence) - v[DECODE_P_QUERIES] + query + 1;
    struct row r = {.problem = problem,
                    .buffer = buffer,
                    .sequence = sequence,
                    .head = head / v[DECODE_P_GROUP],
                    .keys = keys > 0 ? keys : 0,
                    .q = (size_t)(sequence * g.q_batch + head * g.q_head + query * g.q_row),
                    .scale = (double)g.scale / 1.4426950408889634};
    r.weight = malloc(((size_t)r.keys * 2 + 1) * sizeof *r.weight);
    if (!r.weight)
        abort();
    r.error = r.weight + r.keys;
    weigh(&r);
    for (int64_t i = 0; i < v[DECODE_P_DIM] && r.keys > 0; i++)
        one_number(&r, i, &expected[DECODE_B_O].value[r.q + (size_t)i],
                   &expected[DECODE_B_O].bound[r.q + (size_t)i]);
    if (v[DECODE_P_LSE]) {
        double value = r.keys > 0 ? r.most + log(r.sum) : -INFINITY;
        expected[DECODE_B_LSE].value[number] = value;
        expected[DECODE_B_LSE].bound[number] =
            r.keys > 0 ? 1.001 * (r.spoiled / r.sum + ((double)r.keys + 32) * SINGLE) +
                             8 * SINGLE * (fabs(value) + fabs(r.most)) + 0x1p-21
                       : 0;
    }
    free(r.weight);
}

void decode_reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    const int64_t *v = problem->value;
    int64_t rows = v[DECODE_P_BATCH] * v[DECODE_P_HEADS] * v[DECODE_P_GROUP] * v[DECODE_P_QUERIES];
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < rows; i++)
        one_row(problem, buffer, i, expected);
}
