/*
 * reference.c: what attention must be, in f64, and how far off it may be:
 *
 *   A score is a sum of `dim` products in f32 (tensor cores cut each at 24 bits below the largest),
 *   scaled and subtracted from the row's largest with a rounding each. What that changes a weight
 * by changes the output by as much of it, and the log-sum-exp. Weights are rounded to the type of
 * V. Of random numbers these errors are a random walk. The sums over the keys and the output are
 * rounded once more.
 */
#include "attention.h"

#include "zoo/philox.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define SINGLE 0x1p-24 /* half a unit of f32 */

struct head {
    const struct zoo_problem *problem;
    double score_scale, value_scale; /* of e4m3; else 1 */
    struct attention_request request;
    void *const *buffer;
    int64_t queries, keys, number, head;
    size_t q, k, v; /* where the first element of each lies; O lies as Q */
};

/* A row at work. */
struct row {
    double *score, *error;                         /* [keys], in natural units */
    double *query, *cut;                           /* [dim] */
    double *sum, *size, *square, *spoiled, *small; /* [dim]: of w v, w |v|, (w v)^2, w |v| error;
                                                      of |v| where w is near the least e4m3 */
};

static double *numbers(int64_t count)
{
    double *list = calloc((size_t)count + 1, sizeof *list);
    if (!list)
        abort();
    return list;
}

/* Of e4m3 some variants have sums in f32, too. */
static bool has_f32_sums(enum zoo_type type)
{
    return type == ZOO_F32 || type == ZOO_E4M3;
}

/* What FP8's tensor cores lose of a sum of products, as kernels/gemm_scaled/README.md has them: 32
 * products and the sum before are cut 13 bits below the largest exponent, then the sum to 14 bits.
 * f32 loses less. */
static double cut_of_sum(const struct row *row, int64_t dim, const double *key)
{
    double sum = 0, exact = 0;
    for (int64_t from = 0; from < dim; from += 32) {
        int most = INT_MIN, exponent;
        double next = 0;
        for (int64_t i = from; i < from + 32 && i < dim; i++) {
            row->cut[i] = row->query[i] * key[i];
            exact += row->cut[i];
            if (row->cut[i] != 0) { /* denormals have an exponent of -6 */
                int of_q = ilogb(row->query[i]), of_k = ilogb(key[i]);
                exponent = (of_q < -6 ? -6 : of_q) + (of_k < -6 ? -6 : of_k);
                most = exponent > most ? exponent : most;
            }
        }
        if (sum != 0 && ilogb(sum) > most)
            most = ilogb(sum);
        if (most == INT_MIN)
            continue;
        for (int64_t i = from; i < from + 32 && i < dim; i++)
            next += ldexp(trunc(ldexp(row->cut[i], 13 - most)), most - 13);
        next += ldexp(trunc(ldexp(sum, 13 - most)), most - 13);
        sum = next != 0 ? ldexp(trunc(ldexp(next, 13 - ilogb(next))), ilogb(next) - 13) : 0;
    }
    return fabs(sum - exact);
}

static void make_scores(const struct head *h, struct row *row, int64_t query, int64_t first,
                        int64_t last)
{
    enum zoo_type type = attention_type(h->problem);
    int64_t dim = h->request.dim;
    double scale = h->request.scale * h->score_scale, cap = h->request.softcap, key[512];
    for (int64_t j = first; j <= last; j++) {
        double sum = 0, size = 0;
        for (int64_t i = 0; i < dim; i++) {
            key[i] = zoo_get(type, h->buffer[ATTENTION_B_K],
                             h->k + (size_t)(j * h->request.k_step.row + i));
            sum += row->query[i] * key[i];
            size += fabs(row->query[i] * key[i]);
        }
        double exact = has_f32_sums(type) ? (double)dim + 2 : (double)dim / 4 + 8;
        row->error[j] = scale * (exact * SINGLE * size + 4 * SINGLE * fabs(sum));
        if (type == ZOO_E4M3)
            row->error[j] += scale * cut_of_sum(row, dim, key);
        row->score[j] = scale * sum;
        if (cap != 0) {
            row->score[j] = cap * tanh(scale * sum / cap);
            row->error[j] += cap * 0x1p-20; /* tanh_fast */
        }
        if (h->request.leaning) {
            double cost =
                attention_slope(h->head) * fabs((double)(query + h->keys - h->queries - j));
            row->score[j] -= cost;
            row->error[j] += 8 * SINGLE * (cost + fabs(row->score[j]));
        }
    }
}

static double largest_score(const struct row *row, int64_t first, int64_t last)
{
    double most = -INFINITY;
    for (int64_t j = first; j <= last; j++)
        most = fmax(most, row->score[j]);
    return most;
}

/* The sums of weights, of weights times their relative error, and of weights at their least. */
struct weights {
    double sum, spoiled, least, most;
};

/* What dropout multiplies a weight by. */
static double kept(const struct head *h, int64_t query, int64_t key)
{
    const struct attention_request *r = &h->request;
    struct zoo_dropout d = zoo_dropout_of(r->dropout);
    struct zoo_weight weight = {h->number * r->heads * r->group + h->head, r->queries, r->keys,
                                query, key};
    if (d.threshold == 0)
        return 1;
    return zoo_weight_dropped(d, r->seed, r->offset, weight) ? 0 : d.scale;
}

static struct weights weigh(const struct head *h, struct row *row, int64_t query, int64_t first,
                            int64_t last)
{
    enum zoo_type type = attention_type(h->problem);
    int64_t dim = h->request.dim;
    struct weights w = {0, 0, 0, largest_score(row, first, last)};
    for (int64_t i = 0; i < dim; i++)
        row->sum[i] = row->size[i] = row->square[i] = row->spoiled[i] = row->small[i] = 0;
    for (int64_t j = first; j <= last; j++) {
        double weight = exp(row->score[j] - w.most);
        /* The argument of exp2 and its result; a weight that starts with another base. */
        double error =
            row->error[j] + 0x1p-21 +
            4 * SINGLE * (fabs(w.most) + fabs(row->score[j]) + fabs(row->score[j] - w.most));
        w.sum += weight;
        w.least += weight * exp(-error);
        error = expm1(error); /* of the weight; sums of FP8 are off by more than a little */
        w.spoiled += weight * error;
        double by = h->value_scale * kept(h, query, j);
        for (int64_t i = 0; i < dim; i++) {
            double v = by * zoo_get(type, h->buffer[ATTENTION_B_V],
                                    h->v + (size_t)(j * h->request.v_step.row + i));
            row->sum[i] += weight * v;
            row->size[i] += weight * fabs(v);
            row->square[i] += weight * weight * v * v;
            row->spoiled[i] += weight * error * fabs(v);
            row->small[i] += weight < 0x1p-12 ? fabs(v) : 0;
        }
    }
    return w;
}

/* How much one number of the output may be off. */
static double bound_of(const struct head *h, const struct row *row, struct weights w, int64_t i,
                       int64_t count)
{
    static const double units[] = {0x1p-8, 0x1p-11, SINGLE, 0x1p-8}, /* of O */
        weights[] = {0x1p-8, 0x1p-11, SINGLE, 0x1p-4},               /* of a weight */
        least[] = {0x1p-134, 0x1p-25, 0x1p-150, 0x1p-134};
    enum attention_number number = h->request.number;
    bool random =
        h->problem->distribution == ATTENTION_UNIFORM || h->problem->distribution == ATTENTION_HUGE;
    double value = row->sum[i] / w.sum, keys = (double)count;
    double rounded = weights[number] * row->size[i];
    double walk = 8 * weights[number] * sqrt(row->square[i]);
    if (random && walk < rounded)
        rounded = walk;
    double error = row->spoiled[i] + fabs(value) * w.spoiled + rounded + least[number] * keys;
    error += (keys / 4 + 16) * 2 * SINGLE * row->size[i]; /* sums over the keys, and shrinking */
    if (number == ATTENTION_F32 || number == ATTENTION_E4M3)
        error += keys * SINGLE * row->size[i];
    if (number == ATTENTION_E4M3) /* four instructions a tile cut 33 terms and a sum each */
        error += 4 * 34 * 0x1p-13 * row->size[i] + 0x1p-18 * row->small[i];
    error /= w.least;
    return error * 1.001 + (fabs(value) + error) * units[number] * 1.0001 + least[number];
}

static void one_row(const struct head *h, struct row *row, int64_t query, size_t o, size_t lse,
                    struct zoo_expected *expected)
{
    const struct attention_request *r = &h->request;
    int64_t diagonal = query + h->keys - h->queries, first = diagonal - r->left,
            last = diagonal + r->right;
    struct weights w = {0, 0, 0, 0};
    first = first > 0 ? first : 0;
    int64_t visible = attention_visible(h->problem, h->number);
    last = last < visible - 1 ? last : visible - 1;
    for (int64_t i = 0; i < r->dim; i++)
        row->query[i] = zoo_get(attention_type(h->problem), h->buffer[ATTENTION_B_Q],
                                h->q + (size_t)(query * r->q_step.row + i));
    if (first <= last) {
        make_scores(h, row, query, first, last);
        w = weigh(h, row, query, first, last);
    }
    for (int64_t i = 0; i < r->dim; i++) {
        expected[ATTENTION_B_O].value[o + (size_t)i] = w.sum > 0 ? row->sum[i] / w.sum : 0;
        expected[ATTENTION_B_O].bound[o + (size_t)i] =
            w.sum > 0 ? bound_of(h, row, w, i, last - first + 1) : 0;
    }
    if (h->problem->value[ATTENTION_P_LSE]) {
        double value = w.sum > 0 ? w.most + log(w.sum) : -INFINITY;
        expected[ATTENTION_B_LSE].value[lse] = value;
        expected[ATTENTION_B_LSE].bound[lse] =
            w.sum > 0 ? 1.001 * (w.spoiled / w.least + ((double)(last - first) + 16) * SINGLE) +
                            8 * SINGLE * (fabs(value) + fabs(w.most)) + 0x1p-21
                      : 0;
    }
}

static void one_head(struct head *h, int64_t batch, int64_t head, int64_t q_first, int64_t k_first,
                     struct zoo_expected *expected)
{
    const struct attention_request *r = &h->request;
    int64_t heads = r->heads * r->group, kv_head = head / r->group;
    int64_t in_batch = r->packed ? 0 : batch;
    struct row row = {numbers(h->keys), numbers(h->keys), numbers(r->dim),
                      numbers(r->dim),  numbers(r->dim),  numbers(r->dim),
                      numbers(r->dim),  numbers(r->dim),  numbers(r->dim)};
    h->q = (size_t)(in_batch * r->q_step.batch + head * r->q_step.head + q_first * r->q_step.row);
    h->k =
        (size_t)(in_batch * r->k_step.batch + kv_head * r->k_step.head + k_first * r->k_step.row);
    h->v = h->k;
    h->score_scale = h->value_scale = 1;
    h->number = batch;
    h->head = head;
    if (attention_type(h->problem) == ZOO_E4M3) {
        const float *scales = h->buffer[ATTENTION_B_SCALES];
        h->score_scale = (double)scales[kv_head] * scales[r->heads + kv_head];
        h->value_scale = scales[2 * r->heads + kv_head];
    }
    for (int64_t i = 0; i < h->queries; i++) {
        size_t lse = (size_t)(r->packed ? (q_first + i) * heads + head
                                        : (batch * heads + head) * h->queries + i);
        one_row(h, &row, i, h->q + (size_t)(i * r->q_step.row), lse, expected);
    }
    free(row.score);
    free(row.error);
    free(row.query);
    free(row.cut);
    free(row.sum);
    free(row.size);
    free(row.square);
    free(row.spoiled);
    free(row.small);
}

void attention_reference(const struct zoo_problem *problem, void *const *buffer,
                         struct zoo_expected *expected)
{
    struct attention_request request = attention_request_of(problem, (CUdeviceptr[ZOO_BUFFERS]){0});
    int64_t heads = request.heads * request.group, rows = 0;
#pragma omp parallel for schedule(dynamic)
    for (int64_t number = 0; number < request.batch * heads; number++) {
        int64_t batch = number / heads, q_first = 0, k_first = 0;
        for (int64_t i = 0; request.packed && i < batch; i++) {
            q_first += attention_length(problem, i, false);
            k_first += attention_length(problem, i, true);
        }
        struct head h = {.problem = problem,
                         .request = request,
                         .buffer = buffer,
                         .queries = attention_length(problem, batch, false),
                         .keys = attention_length(problem, batch, true)};
        one_head(&h, batch, number % heads, q_first, k_first, expected);
    }
    if (!request.packed) /* else there may be room behind the last sequence */
        return;
    for (int64_t i = 0; i < request.batch; i++)
        rows += attention_length(problem, i, false);
    expected[ATTENTION_B_O].count = (size_t)(rows * heads * request.dim);
    if (problem->value[ATTENTION_P_LSE])
        expected[ATTENTION_B_LSE].count = (size_t)(rows * heads);
}
