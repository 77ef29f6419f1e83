/*
 * reference.c: what the gradients must be, in f64, from the same O and log-sum-exp that the kernels
 * get, and how far off they may be: scores and dP are sums in f32, P and dS are rounded to the type
 * before they are multiplied, the sums over the keys or queries are in f32, and results are rounded
 * once more. Also forward, in f64, which makes O and log-sum-exp for the kernels.
 */
#include "backward.h"

#include "zoo/philox.h"

#include <math.h>
#include <stdlib.h>

#define SINGLE 0x1p-24 /* half a unit of f32 */
static const double units[] = {0x1p-8, 0x1p-11, SINGLE}, least[] = {0x1p-134, 0x1p-25, 0x1p-150};

/* One head of Q of one sequence, and that of K and V which it uses. */
struct head {
    const struct zoo_problem *problem;
    void *const *buffer;
    int64_t queries, keys, dim;
    size_t q, k;         /* where the first element of each lies, and */
    size_t q_row, k_row; /* elements to the next row */
    size_t lse, lse_row; /* likewise */
    int64_t number;      /* of the head, over all sequences */
    int64_t visible;     /* keys that are not padding */
    double slope;        /* of ALiBi */
};

static struct head head_of(const struct zoo_problem *problem, void *const *buffer, int64_t number)
{
    const int64_t *v = problem->value;
    int64_t heads = v[BACKWARD_P_HEADS] * v[BACKWARD_P_GROUP], batch = number / heads;
    int64_t head = number % heads, kv_head = head / v[BACKWARD_P_GROUP], dim = v[BACKWARD_P_DIM];
    struct head h = {.problem = problem,
                     .buffer = buffer,
                     .queries = backward_length(problem, batch, false),
                     .keys = backward_length(problem, batch, true),
                     .dim = dim,
                     .number = number};
    if (backward_is_packed(problem)) {
        int64_t q = ((const int32_t *)buffer[BACKWARD_B_Q_BEGIN])[batch];
        int64_t k = ((const int32_t *)buffer[BACKWARD_B_K_BEGIN])[batch];
        h.q = (size_t)((q * heads + head) * dim);
        h.k = (size_t)((k * v[BACKWARD_P_HEADS] + kv_head) * dim);
        h.q_row = (size_t)(heads * dim);
        h.k_row = (size_t)(v[BACKWARD_P_HEADS] * dim);
        h.lse = (size_t)(q * heads + head);
        h.lse_row = (size_t)heads;
    } else {
        h.q = (size_t)(number * h.queries * dim);
        h.k = (size_t)((batch * v[BACKWARD_P_HEADS] + kv_head) * h.keys * dim);
        h.q_row = h.k_row = (size_t)dim;
        h.lse = (size_t)(number * h.queries);
        h.lse_row = 1;
    }
    h.visible = h.keys;
    if (backward_has(problem, BACKWARD_PADDING))
        h.visible = ((const int32_t *)buffer[BACKWARD_B_LENGTHS])[batch];
    if (backward_has(problem, BACKWARD_ALIBI))
        h.slope = (double)((const float *)buffer[BACKWARD_B_SLOPES])[head];
    return h;
}
static bool is_of_keys(unsigned buffer)
{
    return buffer == BACKWARD_B_K || buffer == BACKWARD_B_V || buffer == BACKWARD_B_DK ||
           buffer == BACKWARD_B_DV;
}
static size_t place(const struct head *h, unsigned buffer, int64_t row, int64_t column)
{
    return is_of_keys(buffer) ? h->k + (size_t)row * h->k_row + (size_t)column
                              : h->q + (size_t)row * h->q_row + (size_t)column;
}
static double get(const struct head *h, unsigned buffer, int64_t row, int64_t column)
{
    return zoo_get(backward_type(h->problem), h->buffer[buffer], place(h, buffer, row, column));
}
/* Up to the last; a window may hide the first of them. */
static int64_t keys_seen(const struct head *h, int64_t query)
{
    int64_t seen = query + h->keys - h->queries + 1;
    if (!h->problem->value[BACKWARD_P_MASK] || seen > h->visible)
        return h->visible;
    return seen < 0 ? 0 : seen;
}
static bool is_seen(const struct head *h, int64_t query, int64_t key)
{
    struct backward_window window = backward_window(h->problem);
    int64_t diagonal = query + h->keys - h->queries;
    return key >= diagonal - window.left && key <= diagonal + window.right;
}
/* What ALiBi takes off a score. */
static double distance_cost(const struct head *h, int64_t query, int64_t key)
{
    return h->slope * fabs((double)(query + h->keys - h->queries - key));
}

/* A score with its softcap, and by how much less it moves for that. */
struct bent {
    double score, slope;
};
static struct bent bend(const struct head *h, double score)
{
    double cap = (double)zoo_as_float(h->problem->value[BACKWARD_P_SOFTCAP]);
    if (cap <= 0)
        return (struct bent){score, 1};
    double part = tanh(score / cap);
    return (struct bent){cap * part, 1 - part * part};
}

/* What dropout multiplies a weight by. */
static double kept(const struct head *h, int64_t query, int64_t key)
{
    const int64_t *v = h->problem->value;
    struct zoo_dropout d = zoo_dropout_of((double)zoo_as_float(v[BACKWARD_P_DROPOUT]));
    struct zoo_weight weight = {h->number, v[BACKWARD_P_QUERIES], v[BACKWARD_P_KEYS], query, key};
    if (d.threshold == 0)
        return 1;
    bool gone =
        zoo_weight_dropped(d, (uint64_t)v[BACKWARD_P_SEED], (uint64_t)v[BACKWARD_P_OFFSET], weight);
    return gone ? 0 : d.scale;
}

static double *numbers(int64_t count)
{
    double *list = calloc((size_t)count + 1, sizeof *list);
    if (!list)
        abort();
    return list;
}

/* A sum of products of two rows, and of their sizes. */
struct product {
    double sum, size;
};
static struct product multiply(const struct head *h, unsigned a, int64_t a_row, unsigned b,
                               int64_t b_row)
{
    struct product p = {0, 0};
    for (int64_t i = 0; i < h->dim; i++) {
        double x = get(h, a, a_row, i) * get(h, b, b_row, i);
        p.sum += x;
        p.size += fabs(x);
    }
    return p;
}

/* Forward ---------------------------------------------------------------------------------------*/

static void forward_row(const struct head *h, int64_t query, void *o, double *lse)
{
    int64_t keys = keys_seen(h, query);
    double *weight = numbers(keys), most = -INFINITY, sum = 0, scale = backward_scale(h->problem);
    for (int64_t j = 0; j < keys; j++) {
        double score = scale * multiply(h, BACKWARD_B_Q, query, BACKWARD_B_K, j).sum;
        weight[j] =
            is_seen(h, query, j) ? bend(h, score).score - distance_cost(h, query, j) : -INFINITY;
        most = fmax(most, weight[j]);
    }
    for (int64_t j = 0; j < keys && most > -INFINITY; j++)
        sum += weight[j] = exp(weight[j] - most);
    for (int64_t i = 0; i < h->dim; i++) {
        double value = 0;
        for (int64_t j = 0; j < keys && sum > 0; j++)
            value += kept(h, query, j) * weight[j] / sum * get(h, BACKWARD_B_V, j, i);
        zoo_put(backward_type(h->problem), o, place(h, BACKWARD_B_O, query, i), value);
    }
    *lse = sum > 0 ? most + log(sum) : -INFINITY;
    free(weight);
}

void backward_forward(const struct zoo_problem *problem, void **buffer)
{
    const int64_t *v = problem->value;
    int64_t heads = v[BACKWARD_P_BATCH] * v[BACKWARD_P_HEADS] * v[BACKWARD_P_GROUP];
    int64_t rows = heads * v[BACKWARD_P_QUERIES]; /* some of them not there, if packed */
    bool quick = (double)rows * (double)v[BACKWARD_P_KEYS] * (double)v[BACKWARD_P_DIM] < 2e9;
    float *lse = buffer[BACKWARD_B_LSE];
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < rows; i++) {
        int64_t query = i % v[BACKWARD_P_QUERIES];
        struct head h = head_of(problem, buffer, i / v[BACKWARD_P_QUERIES]);
        double value = log((double)keys_seen(&h, query)) + 0.9; /* of random numbers */
        if (query >= h.queries)
            continue;
        if (quick)
            forward_row(&h, query, buffer[BACKWARD_B_O], &value);
        else
            for (int64_t c = 0; c < h.dim; c++)
                zoo_put(backward_type(problem), buffer[BACKWARD_B_O],
                        place(&h, BACKWARD_B_O, query, c),
                        (zoo_random_unit(problem->seed, 9, (uint64_t)(i * h.dim + c)) - 0.5) / 32);
        lse[h.lse + (size_t)query * h.lse_row] = (float)value;
    }
}

/* Backward --------------------------------------------------------------------------------------*/

/* [queries][keys] of one head: P and dS, and how far off they may be before they are rounded. */
struct matrices {
    double *weight, *weight_error, *slope, *slope_error;
};

static void fill(const struct head *h, struct matrices *m)
{
    int64_t type = h->problem->value[BACKWARD_P_TYPE];
    double scale = backward_scale(h->problem), exact = (double)h->dim / (type == 2 ? 1 : 4) + 8;
    const float *lse = h->buffer[BACKWARD_B_LSE];
    for (int64_t i = 0; i < h->queries; i++) {
        double base = lse[h->lse + (size_t)i * h->lse_row];
        struct product delta = multiply(h, BACKWARD_B_GRAD, i, BACKWARD_B_O, i);
        for (int64_t j = 0; j < h->keys; j++) {
            bool seen = j < keys_seen(h, i) && is_seen(h, i, j);
            size_t at = (size_t)(i * h->keys + j);
            m->weight[at] = m->weight_error[at] = m->slope[at] = m->slope_error[at] = 0;
            if (!seen)
                continue;
            struct product s = multiply(h, BACKWARD_B_Q, i, BACKWARD_B_K, j);
            struct product dp = multiply(h, BACKWARD_B_GRAD, i, BACKWARD_B_V, j);
            struct bent bent = bend(h, scale * s.sum);
            double cost = distance_cost(h, i, j);
            double by = kept(h, i, j), weight = exp(bent.score - cost - base);
            double difference = by * dp.sum - delta.sum;
            double error = scale * exact * SINGLE * s.size + 0x1p-21 +
                           4 * SINGLE * (fabs(scale * s.sum) + fabs(base) + cost);
            if (bent.slope < 1) /* tanh_fast */
                error += (double)zoo_as_float(h->problem->value[BACKWARD_P_SOFTCAP]) * 0x1p-20;
            m->weight[at] = weight * by;
            m->weight_error[at] = weight * by * (error + SINGLE);
            m->slope[at] = weight * difference * bent.slope;
            m->slope_error[at] =
                weight * (error * fabs(difference) + 4 * SINGLE * fabs(difference) +
                          (bent.slope < 1 ? 0x1p-18 * fabs(difference) : 0) +
                          SINGLE * (exact * by * dp.size + ((double)h->dim / 8 + 8) * delta.size));
        }
    }
}

/* Sums of factor times a number: what one number of a gradient is made of. */
struct total {
    double sum, size, square, error, count;
};
static void add(struct total *t, double factor, double error, double number)
{
    t->sum += factor * number;
    t->size += fabs(factor * number);
    t->square += factor * factor * number * number;
    t->error += error * fabs(number);
    t->count++;
}
static void put(const struct head *h, const struct total *t, double scale, double *value,
                double *bound)
{
    int64_t type = h->problem->value[BACKWARD_P_TYPE];
    double rounded = units[type] * t->size, walk = 8 * units[type] * sqrt(t->square);
    if (h->problem->distribution == BACKWARD_UNIFORM && walk < rounded)
        rounded = walk; /* errors of random numbers are a random walk */
    double error = t->error + rounded + least[type] * t->count +
                   (t->count / (type == 2 ? 1 : 4) + 16) * 2 * SINGLE * t->size;
    *value = scale * t->sum;
    *bound =
        1.001 * scale * error + (fabs(*value) + scale * error) * units[type] * 1.0001 + least[type];
}

/* A head of K and V, with all heads of Q that use it. */
static void one_group(const struct zoo_problem *problem, void *const *buffer, int64_t kv_head,
                      struct zoo_expected *expected)
{
    int64_t group = problem->value[BACKWARD_P_GROUP];
    struct head h = head_of(problem, buffer, kv_head * group);
    int64_t pairs = h.queries * h.keys;
    double scale = backward_scale(problem);
    struct matrices m = {numbers(pairs), numbers(pairs), numbers(pairs), numbers(pairs)};
    struct total *dk = calloc((size_t)(h.keys * h.dim) + 1, sizeof *dk);
    struct total *dv = calloc((size_t)(h.keys * h.dim) + 1, sizeof *dv);
    if (!dk || !dv)
        abort();
    for (int64_t number = kv_head * group; number < (kv_head + 1) * group; number++) {
        h = head_of(problem, buffer, number);
        fill(&h, &m);
        for (int64_t i = 0; i < h.queries; i++)
            for (int64_t c = 0; c < h.dim; c++) {
                struct total dq = {0};
                double q = get(&h, BACKWARD_B_Q, i, c);
                double grad = get(&h, BACKWARD_B_GRAD, i, c);
                for (int64_t j = 0; j < keys_seen(&h, i); j++) {
                    size_t at = (size_t)(i * h.keys + j), to = (size_t)(j * h.dim + c);
                    add(&dq, m.slope[at], m.slope_error[at], get(&h, BACKWARD_B_K, j, c));
                    add(&dk[to], m.slope[at], m.slope_error[at], q);
                    add(&dv[to], m.weight[at], m.weight_error[at], grad);
                }
                size_t to = place(&h, BACKWARD_B_DQ, i, c);
                put(&h, &dq, scale, &expected[BACKWARD_B_DQ].value[to],
                    &expected[BACKWARD_B_DQ].bound[to]);
            }
    }
    for (int64_t i = 0; i < h.keys * h.dim; i++) {
        size_t to = place(&h, BACKWARD_B_DK, i / h.dim, i % h.dim);
        put(&h, &dk[i], scale, &expected[BACKWARD_B_DK].value[to],
            &expected[BACKWARD_B_DK].bound[to]);
        put(&h, &dv[i], 1, &expected[BACKWARD_B_DV].value[to], &expected[BACKWARD_B_DV].bound[to]);
    }
    free(m.weight);
    free(m.weight_error);
    free(m.slope);
    free(m.slope_error);
    free(dk);
    free(dv);
}

void backward_reference(const struct zoo_problem *problem, void *const *buffer,
                        struct zoo_expected *expected)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < problem->value[BACKWARD_P_BATCH] * problem->value[BACKWARD_P_HEADS];
         i++)
        one_group(problem, buffer, i, expected);
}
