/*
 * model.h: a Llama-like model from a GGUF file, run over one text in f32. A watcher sees queries,
 * keys and values of every layer, rotated already, and may replace keys and values: what a cache
 * would hold.
 */
#ifndef LOCKSTEP_QUALITY_MODEL_H
#define LOCKSTEP_QUALITY_MODEL_H

#include "gguf.h"
#include "quality.h"

struct model {
    struct gguf file;
    int layers, width, inner, heads, kv_heads, dim, vocabulary;
    double rope_base, epsilon;
    float *embedding, *last_norm; /* [vocabulary][width], [width] */
    struct model_layer {
        float *norm, *q, *k, *v, *o, *inner_norm, *gate, *up, *down;
    } * layer;
};

/* False after printing an error. */
bool model_open(struct model *m, const char *path);
void model_close(struct model *m);
/* The text as tokens, at most `most`: each word is cut into the longest tokens there are. */
int model_tokens(const struct model *m, const char *text, int *tokens, int most);
/* Called for each layer. */
typedef void model_watcher(void *context, int layer, struct quality_case *c);
/* The mean of -log p(next token), in nats; -1: no memory. layers: only so many, and no mean. */
double model_run(const struct model *m, const int *tokens, int count, int layers,
                 model_watcher *watcher, void *context);

#endif
