/*
 * reference.c: attention over the cache in f64, of the numbers that the cache has; and appending,
 * every bit of which is known.
 */
#include "kv_cache.h"

#include "formats.h"

#include <math.h>
#include <stdlib.h>

/* The row of the cache that has a key. */
static size_t row_of(const struct zoo_problem *problem, const int32_t *table, int64_t sequence,
                     int64_t head, int64_t key)
{
    int64_t page = problem->value[KV_PAGE];
    int64_t where = table[sequence * kv_pages_each(problem) + key / page];
    return (size_t)((where * problem->value[KV_HEADS] + head) * page + key % page);
}

/* Numbers of a key and of its value. */
static void read_row(const struct zoo_problem *problem, void *const *buffer, size_t row,
                     int64_t head, double *k, double *v)
{
    size_t dim = (size_t)problem->value[KV_DIM];
    const float *scales = buffer[A_HEAD_SCALES];
    for (size_t i = 0; i < dim; i++) {
        if (problem->value[KV_CACHE] == KV_F16) {
            k[i] = zoo_get(ZOO_F16, buffer[A_K], row * dim + i);
            v[i] = zoo_get(ZOO_F16, buffer[A_V], row * dim + i);
            continue;
        }
        uint8_t byte = ((const uint8_t *)buffer[A_V])[row * (dim / 2) + i / 2];
        uint8_t block = ((const uint8_t *)buffer[A_V_SCALES])[row * (dim / 16) + i / 16];
        k[i] = (double)format_number(FORMAT_E4M3, ((const uint8_t *)buffer[A_K])[row * dim + i]) *
               (double)scales[2 * head];
        v[i] = (double)format_number(FORMAT_E2M1, byte >> i % 2 * 4 & 15) *
               (double)format_number(FORMAT_E4M3, block) * (double)scales[2 * head + 1];
    }
}

/* One query. Probabilities are f16 in the tensor cores, and so is the query, whose smallest numbers
 * are 2^-24 apart; scores are sums of dim products in f32. */
static void attend(const struct zoo_problem *problem, void *const *buffer,
                   struct zoo_expected *expected, int64_t sequence, int64_t token, int64_t query)
{
    size_t dim = (size_t)problem->value[KV_DIM];
    int64_t heads = problem->value[KV_HEADS] * problem->value[KV_GROUP];
    int64_t head = query / problem->value[KV_GROUP], tokens = kv_queries(problem);
    int64_t length = kv_length(problem, sequence) - tokens + token + 1; /* keys that it sees */
    enum zoo_type type = problem->value[KV_TYPE] == 0 ? ZOO_BF16 : ZOO_F16;
    const struct zoo_precision *of = &zoo_precisions[type];
    size_t first = (size_t)((sequence * tokens + token) * heads + query) * dim;
    length = length < 0 ? 0 : length;
    double *work = calloc((size_t)length + 5 * dim + 1, sizeof *work);
    double *k = work, *v = k + dim, *q = v + dim, *o = q + dim, *size = o + dim;
    double *score = size + dim, most = -INFINITY, sum = 0, error = 0;
    for (size_t i = 0; i < dim; i++)
        q[i] = zoo_get(type, buffer[A_Q], first + i);
    for (int64_t key = 0; key < length; key++) {
        double sizes = 0, keys = 0;
        read_row(problem, buffer, row_of(problem, buffer[A_TABLE], sequence, head, key), head, k,
                 v);
        for (size_t i = 0; i < dim; i++) {
            score[key] += q[i] * k[i] / sqrt((double)dim);
            sizes += fabs(q[i] * k[i]) / sqrt((double)dim);
            keys += fabs(k[i]) / sqrt((double)dim);
        }
        most = fmax(most, score[key]);
        error = fmax(error, 0x1p-26 * (double)(dim + 64) * sizes + 0x1p-25 * keys);
    }
    for (int64_t key = 0; key < length; key++) {
        double p = exp(score[key] - most);
        read_row(problem, buffer, row_of(problem, buffer[A_TABLE], sequence, head, key), head, k,
                 v);
        sum += p;
        for (size_t i = 0; i < dim; i++) {
            o[i] += p * v[i];
            size[i] += p * fabs(v[i]);
        }
    }
    for (size_t i = 0; i < dim; i++) {
        double value = sum > 0 ? o[i] / sum : 0, weight = sum > 0 ? size[i] / sum : 0;
        expected[A_O].value[first + i] = value;
        expected[A_O].bound[first + i] =
            1.01 * of->unit * fabs(value) + of->least +
            (0x1p-10 + 2 * error + 0x1p-24 * (double)length / 64) * weight;
    }
    free(work);
}

static void append(const struct zoo_problem *problem, void *const *buffer,
                   struct zoo_expected *expected)
{
    size_t dim = (size_t)problem->value[KV_DIM];
    int64_t heads = problem->value[KV_HEADS], tokens = problem->value[KV_TOKENS];
    enum zoo_type type = problem->value[KV_TYPE] == 0 ? ZOO_BF16 : ZOO_F16;
    const float *scales = buffer[P_HEAD_SCALES];
    struct zoo_buffer buffers[ZOO_BUFFERS];
    problem->family->shape(problem, buffers);
    for (unsigned b = P_K; b <= P_V_SCALES; b++)
        for (size_t i = 0; i < buffers[b].count; i++)
            expected[b].value[i] = ((const uint8_t *)buffer[b])[i];
    for (int64_t i = 0; i < problem->value[KV_BATCH] * tokens * heads; i++) {
        int64_t sequence = i / heads / tokens, head = i % heads;
        int64_t key = kv_length(problem, sequence) - tokens + i / heads % tokens;
        if (key < 0)
            continue;
        size_t row = row_of(problem, buffer[P_TABLE], sequence, head, key);
        float k_factor = 1 / scales[2 * head], encode = 1 / scales[2 * head + 1];
        for (size_t block = 0; block < dim / 16; block++) {
            float x[16], largest = 0;
            for (size_t j = 0; j < 16; j++) {
                size_t at = (size_t)i * dim + 16 * block + j;
                float k = (float)zoo_get(type, buffer[P_NEW_K], at);
                expected[P_K].value[row * dim + 16 * block + j] =
                    format_nearest(FORMAT_E4M3, k * k_factor);
                x[j] = (float)zoo_get(type, buffer[P_NEW_V], at);
                largest = isfinite(x[j]) ? fmaxf(largest, fabsf(x[j])) : largest;
            }
            uint8_t scale = format_nvfp4_scale(largest, encode);
            float factor = format_nvfp4_factor(scale, encode);
            expected[P_V_SCALES].value[row * (dim / 16) + block] = scale;
            for (size_t j = 0; j < 16; j += 2)
                expected[P_V].value[row * (dim / 2) + 8 * block + j / 2] =
                    format_nearest(FORMAT_E2M1, x[j] * factor) +
                    16 * format_nearest(FORMAT_E2M1, x[j + 1] * factor);
        }
    }
}

void kv_reference(const struct zoo_problem *problem, void *const *buffer,
                  struct zoo_expected *expected)
{
    int64_t heads = problem->value[KV_HEADS] * problem->value[KV_GROUP];
    if (problem->value[KV_STEP] == KV_APPEND) {
        append(problem, buffer, expected);
        return;
    }
    int64_t tokens = kv_queries(problem);
#pragma omp parallel for schedule(dynamic) if (problem->value[KV_KEYS] > 100)
    for (int64_t i = 0; i < problem->value[KV_BATCH] * tokens * heads; i++)
        attend(problem, buffer, expected, i / heads / tokens, i / heads % tokens, i % heads);
}
