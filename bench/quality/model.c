/*
 * model.c: the layers of a Llama-like model (RMS norm, rotary embedding of neighbours, grouped
 * heads, SwiGLU), all tokens of a text at once.
 */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float *layer_weights(const struct model *m, int layer, const char *name, int rows, int cols)
{
    char whole[64];
    snprintf(whole, sizeof whole, "blk.%d.%s.weight", layer, name);
    return gguf_weights(&m->file, whole, (size_t)rows, (size_t)cols);
}

static bool read_sizes(struct model *m)
{
    static const char *const keys[] = {"block_count", "embedding_length", "feed_forward_length",
                                       "attention.head_count", "attention.head_count_kv"};
    int *const to[] = {&m->layers, &m->width, &m->inner, &m->heads, &m->kv_heads};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char key[64];
        double value;
        snprintf(key, sizeof key, "llama.%s", keys[i]);
        if (!gguf_number(&m->file, key, &value))
            return false;
        *to[i] = (int)value;
    }
    m->vocabulary = (int)m->file.token_count;
    m->dim = m->heads > 0 ? m->width / m->heads : 0;
    if (m->dim < 32 || m->kv_heads < 1 || m->heads % m->kv_heads || m->layers < 1) {
        fprintf(stderr, "this is no model that can be run here: heads of %d numbers\n", m->dim);
        return false;
    }
    return gguf_number(&m->file, "llama.rope.freq_base", &m->rope_base) &&
           gguf_number(&m->file, "llama.attention.layer_norm_rms_epsilon", &m->epsilon);
}

bool model_open(struct model *m, const char *path)
{
    *m = (struct model){0};
    if (!gguf_open(&m->file, path))
        return false;
    if (!read_sizes(m) || !(m->layer = calloc((size_t)m->layers, sizeof *m->layer)))
        return false;
    int w = m->width, kv = m->kv_heads * m->dim;
    m->embedding = gguf_weights(&m->file, "token_embd.weight", (size_t)m->vocabulary, (size_t)w);
    m->last_norm = gguf_weights(&m->file, "output_norm.weight", 1, (size_t)w);
    bool fine = m->embedding && m->last_norm;
    for (int i = 0; i < m->layers && fine; i++) {
        struct model_layer *l = &m->layer[i];
        fine = (l->norm = layer_weights(m, i, "attn_norm", 1, w)) &&
               (l->q = layer_weights(m, i, "attn_q", w, w)) &&
               (l->k = layer_weights(m, i, "attn_k", kv, w)) &&
               (l->v = layer_weights(m, i, "attn_v", kv, w)) &&
               (l->o = layer_weights(m, i, "attn_output", w, w)) &&
               (l->inner_norm = layer_weights(m, i, "ffn_norm", 1, w)) &&
               (l->gate = layer_weights(m, i, "ffn_gate", m->inner, w)) &&
               (l->up = layer_weights(m, i, "ffn_up", m->inner, w)) &&
               (l->down = layer_weights(m, i, "ffn_down", w, m->inner));
    }
    return fine;
}

void model_close(struct model *m)
{
    for (int i = 0; i < m->layers && m->layer; i++) {
        struct model_layer *l = &m->layer[i];
        float *all[] = {l->norm, l->q, l->k, l->v, l->o, l->inner_norm, l->gate, l->up, l->down};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            free(all[k]);
    }
    free(m->layer);
    free(m->embedding);
    free(m->last_norm);
    gguf_close(&m->file);
    *m = (struct model){0};
}

/* Tokens write a space as U+0120 and a newline as U+010A. */
static size_t written(char letter, char *to)
{
    if (letter != ' ' && letter != '\n') {
        to[0] = letter;
        return 1;
    }
    to[0] = '\xc4';
    to[1] = letter == ' ' ? '\xa0' : '\x8a';
    return 2;
}

int model_tokens(const struct model *m, const char *text, int *tokens, int most)
{
    int count = 0;
    while (*text && count < most) {
        char word[128];
        size_t length = 0, ends[64], letters = 0;
        /* A word with the space before it, or a single sign. */
        do {
            length += written(text[letters], word + length);
            ends[letters++] = length;
        } while (letters < 60 && text[letters] &&
                 ((text[letters] | 32) >= 'a' && (text[letters] | 32) <= 'z') &&
                 (letters == 1 ? text[0] == ' ' || ((text[0] | 32) >= 'a' && (text[0] | 32) <= 'z')
                               : true));
        int found = -1;
        for (; letters > 0 && found < 0; letters--)
            for (int i = 0; i < m->vocabulary && found < 0; i++)
                if (m->file.tokens[i].length == ends[letters - 1] &&
                    !memcmp(m->file.tokens[i].at, word, ends[letters - 1])) {
                    found = i;
                    text += letters;
                }
        if (found < 0)
            text++; /* no token has this letter */
        else
            tokens[count++] = found;
    }
    return count;
}

/* Four tokens' products with one row of weights; x is [4][cols]. */
QUALITY_CLONES
static void multiply_four(const float *const x[4], const float *w, int cols, float *sum)
{
    const float *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    float a = 0, b = 0, c = 0, d = 0;
#pragma omp simd reduction(+ : a, b, c, d)
    for (int i = 0; i < cols; i++) {
        a += x0[i] * w[i];
        b += x1[i] * w[i];
        c += x2[i] * w[i];
        d += x3[i] * w[i];
    }
    sum[0] = a, sum[1] = b, sum[2] = c, sum[3] = d;
}

/* y[t][rows] = x[t][cols] w^T. */
static void multiply(const float *x, const float *w, float *y, int tokens, int rows, int cols)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++)
        for (int t = 0; t < tokens; t += 4) {
            const float *four[4];
            float sum[4];
            for (int k = 0; k < 4; k++)
                four[k] = x + (size_t)(t + k < tokens ? t + k : t) * (size_t)cols;
            multiply_four(four, w + (size_t)row * (size_t)cols, cols, sum);
            for (int k = 0; k < 4 && t + k < tokens; k++)
                y[(size_t)(t + k) * (size_t)rows + (size_t)row] = sum[k];
        }
}

static void normalise(const struct model *m, const float *x, const float *weight, float *y,
                      int tokens)
{
    for (int t = 0; t < tokens; t++, x += m->width, y += m->width) {
        double sum = 0;
        for (int i = 0; i < m->width; i++)
            sum += (double)x[i] * (double)x[i];
        float factor = (float)(1 / sqrt(sum / m->width + m->epsilon));
        for (int i = 0; i < m->width; i++)
            y[i] = x[i] * factor * weight[i];
    }
}

/* Neighbours 2 i and 2 i + 1 turn by token / base^(2 i / dim). */
static void turn(const struct model *m, float *x, int tokens, int heads)
{
    for (int t = 0; t < tokens; t++)
        for (int head = 0; head < heads; head++, x += m->dim)
            for (int i = 0; i < m->dim; i += 2) {
                double angle = t * pow(m->rope_base, -(double)i / m->dim);
                float c = (float)cos(angle), s = (float)sin(angle), a = x[i], b = x[i + 1];
                x[i] = a * c - b * s;
                x[i + 1] = a * s + b * c;
            }
}

static void add(float *x, const float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] += y[i];
}

/* The mean of -log p of each token that comes next; x is [count][width]. */
static double loss(const struct model *m, const float *x, const int *tokens, int count)
{
    double sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
    for (int t = 0; t < count - 1; t += 4) {
        double all[4] = {0}, right[4] = {0};
        const float *four[4];
        for (int k = 0; k < 4; k++)
            four[k] = x + (size_t)(t + k < count ? t + k : t) * (size_t)m->width;
        for (int i = 0; i < m->vocabulary; i++) {
            float score[4];
            multiply_four(four, m->embedding + (size_t)i * (size_t)m->width, m->width, score);
            for (int k = 0; k < 4; k++) {
                all[k] += exp((double)score[k]);
                if (t + k < count - 1 && i == tokens[t + k + 1])
                    right[k] = (double)score[k];
            }
        }
        for (int k = 0; k < 4 && t + k < count - 1; k++)
            sum += log(all[k]) - right[k];
    }
    return sum / (count - 1);
}

struct rooms {
    float *x, *y, *z, *wide, *gate;
    double *o;
};

static void attention(const struct model *m, const struct model_layer *l, struct quality_case *c,
                      struct rooms *r, int layer, model_watcher *watcher, void *context)
{
    int kv = m->kv_heads * m->dim;
    normalise(m, r->x, l->norm, r->y, c->tokens);
    multiply(r->y, l->q, c->q, c->tokens, m->width, m->width);
    multiply(r->y, l->k, c->k, c->tokens, kv, m->width);
    multiply(r->y, l->v, c->v, c->tokens, kv, m->width);
    turn(m, c->q, c->tokens, m->heads);
    turn(m, c->k, c->tokens, m->kv_heads);
    if (watcher)
        watcher(context, layer, c);
    quality_attend(c, c->q, c->k, c->v, r->o);
    for (size_t i = 0; i < (size_t)c->tokens * (size_t)m->width; i++)
        r->y[i] = (float)r->o[i];
    multiply(r->y, l->o, r->z, c->tokens, m->width, m->width);
    add(r->x, r->z, (size_t)c->tokens * (size_t)m->width);
}

static void inner_network(const struct model *m, const struct model_layer *l, struct rooms *r,
                          int tokens)
{
    normalise(m, r->x, l->inner_norm, r->y, tokens);
    multiply(r->y, l->gate, r->gate, tokens, m->inner, m->width);
    multiply(r->y, l->up, r->wide, tokens, m->inner, m->width);
    for (size_t i = 0; i < (size_t)tokens * (size_t)m->inner; i++)
        r->wide[i] *= r->gate[i] / (1 + expf(-r->gate[i]));
    multiply(r->wide, l->down, r->z, tokens, m->width, m->inner);
    add(r->x, r->z, (size_t)tokens * (size_t)m->width);
}

double model_run(const struct model *m, const int *tokens, int count, int layers,
                 model_watcher *watcher, void *context)
{
    size_t narrow = (size_t)count * (size_t)m->width, wide = (size_t)count * (size_t)m->inner;
    struct quality_case c;
    struct rooms r = {.x = malloc((3 * narrow + 2 * wide) * sizeof(float)),
                      .o = malloc(narrow * sizeof(double))};
    double mean = -1;
    if (!quality_alloc(&c, count, m->heads, m->kv_heads, m->dim) || !r.x || !r.o)
        goto out;
    r.y = r.x + narrow, r.z = r.y + narrow, r.wide = r.z + narrow, r.gate = r.wide + wide;
    for (int t = 0; t < count; t++)
        memcpy(r.x + (size_t)t * (size_t)m->width,
               m->embedding + (size_t)tokens[t] * (size_t)m->width,
               (size_t)m->width * sizeof(float));
    for (int layer = 0; layer < layers; layer++) {
        attention(m, &m->layer[layer], &c, &r, layer, watcher, context);
        inner_network(m, &m->layer[layer], &r, count);
    }
    if (layers == m->layers) {
        normalise(m, r.x, m->last_norm, r.y, count);
        mean = loss(m, r.y, tokens, count);
    }
out:
    quality_free(&c);
    free(r.x);
    free(r.o);
    return mean;
}
