/*
 * quality.c: rounding to each scheme, attention in f64, and inputs made to hurt.
 */
#include "quality.h"

#include "formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const quality_format_names[] = {"bf16", "fp8", "int8", "int4", "nvfp4"};

bool quality_alloc(struct quality_case *c, int tokens, int heads, int kv_heads, int dim)
{
    size_t queries = (size_t)tokens * (size_t)heads * (size_t)dim;
    size_t keys = (size_t)tokens * (size_t)kv_heads * (size_t)dim;
    *c = (struct quality_case){tokens, heads, kv_heads, dim, NULL, NULL, NULL};
    c->q = calloc(queries + 2 * keys, sizeof *c->q);
    if (!c->q)
        return false;
    c->k = c->q + queries;
    c->v = c->k + keys;
    return true;
}

void quality_free(struct quality_case *c)
{
    free(c->q);
    c->q = c->k = c->v = NULL;
}

/* Rounding --------------------------------------------------------------------------------------*/

static float to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float largest_of(const float *x, size_t count, size_t stride)
{
    float most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmaxf(most, fabsf(x[i * stride]));
    return most;
}

/* Numbers that share an f32 scale, `stride` apart. */
static void round_group(enum number_format format, float *x, size_t count, size_t stride,
                        float most)
{
    float largest = format_facts[format].largest;
    float factor = format_factor(largest, most), scale = format_scale(largest, most);
    for (size_t i = 0; i < count; i++)
        x[i * stride] =
            format_number(format, format_nearest(format, x[i * stride] * factor)) * scale;
}

/* 16 neighbours; encode and decode are the head's f32 scale, and its inverse. */
static void round_nvfp4(float *x, float encode, float decode)
{
    uint8_t scale = format_nvfp4_scale(largest_of(x, 16, 1), encode);
    float factor = format_nvfp4_factor(scale, encode);
    for (int i = 0; i < 16; i++)
        x[i] = format_number(FORMAT_E2M1, format_nearest(FORMAT_E2M1, x[i] * factor)) *
               format_number(FORMAT_E4M3, scale) * decode;
}

/* One head: rows of dim numbers, a row for each token. */
static void round_head(struct quality_scheme scheme, float *x, size_t tokens, size_t dim)
{
    size_t all = tokens * dim;
    enum number_format integer = scheme.format == QUALITY_INT8 ? FORMAT_INT8 : FORMAT_INT4;
    float most = largest_of(x, all, 1), target = FORMAT_NVFP4_LARGEST;
    switch (scheme.format) {
    case QUALITY_FP8:
        round_group(FORMAT_E4M3, x, all, 1, most);
        return;
    case QUALITY_INT8:
    case QUALITY_INT4:
        if (scheme.sharing == QUALITY_BY_CHANNEL) {
            for (size_t i = 0; i < dim; i++)
                round_group(integer, x + i, tokens, dim, largest_of(x + i, tokens, dim));
            return;
        }
        size_t group = scheme.format == QUALITY_INT8 ? dim : 32;
        for (size_t i = 0; i < all; i += group)
            round_group(integer, x + i, group, 1, largest_of(x + i, group, 1));
        return;
    case QUALITY_NVFP4:
        for (size_t i = 0; i < all; i += 16)
            round_nvfp4(x + i, format_factor(target, most), format_scale(target, most));
        return;
    default:
        for (size_t i = 0; i < all; i++)
            x[i] = to_bf16(x[i]);
    }
}

/* By the Hadamard matrix, over sqrt(dim): it is its own inverse. */
static void rotate(float *x, size_t dim)
{
    for (size_t half = 1; half < dim; half *= 2)
        for (size_t i = 0; i < dim; i++)
            if (!(i & half)) {
                float a = x[i], b = x[i + half];
                x[i] = a + b;
                x[i + half] = a - b;
            }
    for (size_t i = 0; i < dim; i++)
        x[i] *= (float)(1 / sqrt((double)dim));
}

void quality_round(struct quality_scheme scheme, int tokens, int heads, int dim, const float *x,
                   float *y)
{
    size_t row = (size_t)dim, count = (size_t)tokens;
    float *head = malloc(count * row * sizeof *head);
    for (int h = 0; h < heads && head; h++) {
        for (size_t t = 0; t < count; t++) {
            memcpy(head + t * row, x + (t * (size_t)heads + (size_t)h) * row, row * sizeof *x);
            if (scheme.rotate)
                rotate(head + t * row, row);
        }
        round_head(scheme, head, count, row);
        for (size_t t = 0; t < count; t++) {
            if (scheme.rotate)
                rotate(head + t * row, row);
            memcpy(y + (t * (size_t)heads + (size_t)h) * row, head + t * row, row * sizeof *y);
        }
    }
    free(head);
}

/* Random numbers --------------------------------------------------------------------------------*/

static double uniform(unsigned stream, uint64_t i)
{
    uint32_t random =
        format_random(0x5eed0000u + stream, (int64_t)(i >> 20), (int64_t)(i & 0xfffff));
    return ((double)random + 0.5) / 16777216;
}

double quality_normal(unsigned stream, uint64_t i)
{
    return sqrt(-2 * log(uniform(stream, 2 * i))) *
           cos(6.283185307179586 * uniform(stream, 2 * i + 1));
}

void quality_disturb(const float *x, float *y, size_t rows, int dim, double part, unsigned stream)
{
    for (size_t row = 0; row < rows; row++, x += dim, y += dim) {
        double size = 0, noise = 0;
        for (int i = 0; i < dim; i++) {
            double g = quality_normal(stream, row * (size_t)dim + (size_t)i);
            size += (double)x[i] * (double)x[i];
            noise += g * g;
        }
        double factor = part * sqrt(size / noise);
        for (int i = 0; i < dim; i++)
            y[i] = x[i] + (float)(factor * quality_normal(stream, row * (size_t)dim + (size_t)i));
    }
}

/* Attention -------------------------------------------------------------------------------------*/

QUALITY_CLONES
static void attend_one(const struct quality_case *c, const float *q, const float *k, const float *v,
                       int token, double *score, double *o)
{
    size_t stride = (size_t)c->kv_heads * (size_t)c->dim;
    double most = -INFINITY, sum = 0;
    for (int key = 0; key <= token; key++) {
        const float *row = k + (size_t)key * stride;
        double dot = 0;
#pragma omp simd reduction(+ : dot)
        for (int i = 0; i < c->dim; i++)
            dot += (double)q[i] * (double)row[i];
        score[key] = dot / sqrt((double)c->dim);
        most = fmax(most, score[key]);
    }
    memset(o, 0, (size_t)c->dim * sizeof *o);
    for (int key = 0; key <= token; key++) {
        const float *row = v + (size_t)key * stride;
        double p = exp(score[key] - most);
        sum += p;
#pragma omp simd
        for (int i = 0; i < c->dim; i++)
            o[i] += p * (double)row[i];
    }
    for (int i = 0; i < c->dim; i++)
        o[i] /= sum;
}

void quality_attend(const struct quality_case *c, const float *q, const float *k, const float *v,
                    double *o)
{
    size_t dim = (size_t)c->dim;
#pragma omp parallel for schedule(dynamic)
    for (int token = 0; token < c->tokens; token++) {
        double *score = malloc((size_t)c->tokens * sizeof *score);
        if (!score)
            abort();
        for (int head = 0; head < c->heads; head++) {
            size_t at = ((size_t)token * (size_t)c->heads + (size_t)head) * dim;
            size_t first = (size_t)(head / (c->heads / c->kv_heads)) * dim;
            attend_one(c, q + at, k + first, v + first, token, score, o + at);
        }
        free(score);
    }
}

void quality_compare(const struct quality_case *c, const double *o, const double *right,
                     double *error)
{
    for (int head = 0; head < c->heads; head++) {
        double off = 0, size = 0;
        for (int token = 0; token < c->tokens; token++)
            for (int i = 0; i < c->dim; i++) {
                size_t at =
                    ((size_t)token * (size_t)c->heads + (size_t)head) * (size_t)c->dim + (size_t)i;
                off += (o[at] - right[at]) * (o[at] - right[at]);
                size += right[at] * right[at];
            }
        error[head] = sqrt(off / size);
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double quality_middle(double *error, size_t count, double *largest)
{
    qsort(error, count, sizeof *error, by_size);
    if (largest)
        *largest = error[count - 1];
    return error[count / 2];
}

/* Inputs that hurt ------------------------------------------------------------------------------*/

static void spoil_nothing(struct quality_case *c)
{
    (void)c;
}
/* What rotary embeddings leave in real models: a channel that is large in every key. */
static void spoil_channel(struct quality_case *c)
{
    for (int i = 0; i < c->tokens * c->kv_heads; i++)
        c->k[i * c->dim + 5] += 30;
}
/* Its scale, shared by a head, leaves the others few codes. */
static void spoil_token(struct quality_case *c)
{
    size_t numbers = (size_t)c->kv_heads * (size_t)c->dim; /* of a token */
    size_t at = (size_t)c->tokens / 2 * numbers;
    for (size_t i = 0; i < numbers; i++) {
        c->k[at + i] *= 100;
        c->v[at + i] *= 100;
    }
}
/* Whatever the probabilities are, their mean is this value. */
static void spoil_values(struct quality_case *c)
{
    for (int i = c->kv_heads * c->dim; i < c->tokens * c->kv_heads * c->dim; i++)
        c->v[i] = c->v[i % (c->kv_heads * c->dim)];
}
static void spoil_scores(struct quality_case *c)
{
    for (int i = 0; i < c->tokens * c->heads * c->dim; i++)
        c->q[i] *= 8;
}

const struct quality_adversary quality_adversaries[] = {
    {"plain", "everything normally distributed", spoil_nothing},
    {"outlier channel", "30 is added to one channel of every key", spoil_channel},
    {"huge token", "one token's key and value are 100 times as large", spoil_token},
    {"constant values", "all tokens have the same value", spoil_values},
    {"large scores", "queries are 8 times as large", spoil_scores},
    {0}};

void quality_generate(struct quality_case *c, const struct quality_adversary *adversary)
{
    for (int i = 0; i < c->tokens * c->heads * c->dim; i++)
        c->q[i] = (float)quality_normal(0, (uint64_t)i);
    for (int i = 0; i < c->tokens * c->kv_heads * c->dim; i++) {
        c->k[i] = (float)quality_normal(1, (uint64_t)i);
        c->v[i] = (float)quality_normal(2, (uint64_t)i);
    }
    adversary->spoil(c);
}
